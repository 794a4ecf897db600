"""``python -m motionloom``: the command line."""

from motionloom.cli.main import main

if __name__ == "__main__":
    main()
