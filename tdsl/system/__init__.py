"""What tdsl needs of the operating system and of Python: files, folders, processes, memory. It knows no
design."""
