"""The parts of the READMEs that follow from the code, and the pictures that they show. Not in the wheel."""
