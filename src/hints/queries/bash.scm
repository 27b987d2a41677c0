(function_definition name: (word) @name) @def.function
(variable_assignment name: (variable_name) @name value: (_)? @value) @def.variable
(declaration_command (variable_name) @name) @def.variable
(for_statement variable: (variable_name) @name) @def.variable
(command name: (command_name (word) @_c) argument: (word) @name (#any-of? @_c "read" "mapfile" "readarray")) @def.variable
(command name: (command_name (word) @_c) argument: (concatenation . (word) @name) (#eq? @_c "alias")) @def.function
[(comment) (raw_string) (heredoc_body)] @quiet
((command name: (command_name (word) @_c)) @import (#any-of? @_c "source" "."))
