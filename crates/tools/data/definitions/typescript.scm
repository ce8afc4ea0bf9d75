[
  (abstract_class_declaration name: (_) @name)
  (abstract_method_signature name: (_) @name)
  (enum_declaration name: (_) @name)
  (function_signature name: (_) @name)
  (interface_declaration name: (_) @name)
  (internal_module name: (_) @name)
  (method_signature name: (_) @name)
  (module name: (_) @name)
  (type_alias_declaration name: (_) @name)
] @definition
