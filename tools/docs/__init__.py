"""The documentation: the site, the parts of READMEs that follow from the code, and the pictures. Not in the wheel."""
