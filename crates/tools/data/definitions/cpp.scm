[
  (alias_declaration name: (_) @name)
  (class_specifier name: (_) @name body: (_))
  (concept_definition name: (_) @name)
  (function_declarator declarator: [(field_identifier) (qualified_identifier) (destructor_name) (operator_name)] @name)
  (namespace_definition name: (_) @name)
] @definition
