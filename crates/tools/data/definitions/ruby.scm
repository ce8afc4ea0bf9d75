[
  (class name: (_) @name)
  (method name: (_) @name)
  (module name: (_) @name)
  (singleton_method name: (_) @name)
] @definition
