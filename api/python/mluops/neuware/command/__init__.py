"""What `python -m mluops.neuware COMMAND` can do: a module a command, with a line about it and main(arguments)."""
