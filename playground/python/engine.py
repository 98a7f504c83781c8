"""What is said where HiGHS is needed and was not loaded."""


class EngineAbsent(BaseException):
    """HiGHS is needed, and has not been loaded yet. No handler of ordinary exceptions shall catch it."""
