"""Published examples of the rating schemes, run through the public functions of the schemes."""
