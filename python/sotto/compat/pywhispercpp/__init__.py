"""pywhispercpp's classes over Sotto: `from sotto.compat.pywhispercpp.model import Model`."""
