[
  (enum_item name: (_) @name)
  (function_item name: (_) @name)
  (function_signature_item name: (_) @name)
  (impl_item type: (_) @name)
  (macro_definition name: (_) @name)
  (mod_item name: (_) @name)
  (struct_item name: (_) @name)
  (trait_item name: (_) @name)
  (type_item name: (_) @name)
  (union_item name: (_) @name)
] @definition
