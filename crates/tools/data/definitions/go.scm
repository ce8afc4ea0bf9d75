[
  (function_declaration name: (_) @name)
  (method_declaration name: (_) @name)
  (type_alias name: (_) @name)
  (type_spec name: (_) @name)
] @definition
