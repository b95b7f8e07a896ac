"""How Python calls the C functions of each operator family: written by ./run generate."""
