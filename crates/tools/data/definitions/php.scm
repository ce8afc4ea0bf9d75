[
  (class_declaration name: (_) @name)
  (enum_declaration name: (_) @name)
  (function_definition name: (_) @name)
  (interface_declaration name: (_) @name)
  (method_declaration name: (_) @name)
  (namespace_definition name: (_) @name)
  (trait_declaration name: (_) @name)
] @definition
