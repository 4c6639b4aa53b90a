"""Other packages' classes over Sotto: change the import, keep the code. docs/python.md lists every name."""
