[
  (annotation_type_declaration name: (_) @name)
  (class_declaration name: (_) @name)
  (constructor_declaration name: (_) @name)
  (enum_declaration name: (_) @name)
  (interface_declaration name: (_) @name)
  (method_declaration name: (_) @name)
  (record_declaration name: (_) @name)
] @definition
