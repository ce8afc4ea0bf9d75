[
  (enum_specifier name: (_) @name body: (_))
  (function_declarator declarator: (identifier) @name)
  (preproc_function_def name: (_) @name)
  (struct_specifier name: (_) @name body: (_))
  (type_definition declarator: (type_identifier) @name)
  (union_specifier name: (_) @name body: (_))
] @definition
