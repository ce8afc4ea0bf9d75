[
  (class_declaration name: (_) @name)
  (constructor_declaration name: (_) @name)
  (delegate_declaration name: (_) @name)
  (enum_declaration name: (_) @name)
  (file_scoped_namespace_declaration name: (_) @name)
  (interface_declaration name: (_) @name)
  (method_declaration name: (_) @name)
  (namespace_declaration name: (_) @name)
  (property_declaration name: (_) @name)
  (record_declaration name: (_) @name)
  (struct_declaration name: (_) @name)
] @definition
