(function_definition name: (word) @name) @def.function
(declaration_command ["local" "declare" "typeset"] (variable_assignment name: (variable_name) @name value: (_)? @value)) @def.variable
(declaration_command ["local" "declare" "typeset"] (variable_name) @name) @def.variable
(declaration_command ["export" "readonly"] (variable_name) @name) @def.global
(variable_assignment name: (variable_name) @name value: (_)? @value) @def.global
(for_statement variable: (variable_name) @name) @def.global
(command name: (command_name (word) @_c) argument: (word) @name (#any-of? @_c "read" "mapfile" "readarray")) @def.global
(command name: (command_name (word) @_c) argument: (concatenation . (word) @name) (#eq? @_c "alias")) @def.function
[(comment) (raw_string) (heredoc_body)] @quiet
((command name: (command_name (word) @_c)) @import (#any-of? @_c "source" "."))
