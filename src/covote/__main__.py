"""`python -m covote` is the `covote` command."""

from covote.cli import main

if __name__ == "__main__":
    main()
