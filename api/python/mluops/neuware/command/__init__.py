"""The commands of `python -m mluops.neuware COMMAND`: one module each, with a line of help and main(arguments)."""
