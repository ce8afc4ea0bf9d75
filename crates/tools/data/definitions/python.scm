[
  (class_definition name: (_) @name)
  (function_definition name: (_) @name)
] @definition
