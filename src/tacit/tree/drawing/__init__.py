"""Trees and graphs as people see them: text, DOT, SVG and figures."""
