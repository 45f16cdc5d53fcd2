"""Spark for the tests: whether it can run here, a local session, and a standalone cluster on the loopback address."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

LOOPBACK = "127.0.0.1"


def why_not():
    """The reason why Spark cannot run here, or None."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return "PySpark is not installed: pip install 'covote[spark]'"
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        return "Java is not installed: run scripts/install-java.sh"
    return None


@contextlib.contextmanager
def session(master, **settings):
    """A Spark session on loopback; the Java process behind it ends with it."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    os.environ.update(SPARK_LOCAL_IP=LOOPBACK, PYSPARK_PYTHON=sys.executable, PYSPARK_DRIVER_PYTHON=sys.executable)
    options = {
        "spark.ui.enabled": "false",
        "spark.driver.host": LOOPBACK,
        "spark.driver.bindAddress": LOOPBACK,
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "1g",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        **settings,
    }
    builder = SparkSession.builder.master(master).appName("covote-tests")
    for name, value in options.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    try:
        yield spark
    finally:
        if SparkContext._gateway is not None:
            spark.stop()
        _end_java(SparkContext)


def _end_java(context):
    gateway, context._gateway, context._jvm = context._gateway, None, None
    if gateway is None:
        return
    gateway.shutdown()
    gateway.proc.stdin.close()  # Spark's launcher ends when its input does
    try:
        gateway.proc.wait(20)
    except subprocess.TimeoutExpired:
        gateway.proc.kill()
        gateway.proc.wait()


class Cluster:
    """A master and workers of Spark's standalone mode, started from the pyspark package."""

    def __init__(self, folder: Path, n_workers: int = 2) -> None:
        self.folder = folder
        with socket.socket() as probe:
            probe.bind((LOOPBACK, 0))
            self.port = probe.getsockname()[1]
        self.master = self._start("master", "org.apache.spark.deploy.master.Master", "--port", str(self.port))
        self._wait_for(self.master, "I have been elected leader")
        self.workers = []
        for number in range(n_workers):
            worker = self._start(
                f"worker{number}", "org.apache.spark.deploy.worker.Worker", self.url, "--cores", "1", "--memory", "1g",
                "--work-dir", str(folder / f"work{number}"),
            )  # fmt: skip
            self.workers.append(worker)
        for worker in self.workers:
            self._wait_for(worker, "Successfully registered with master")

    @property
    def url(self) -> str:
        return f"spark://{LOOPBACK}:{self.port}"

    def kill_worker(self, number: int) -> None:
        """End a worker and its executor at once, as a machine that loses power does."""
        self._kill(self.workers[number])

    def stop(self) -> None:
        for process in (*self.workers, self.master):
            self._kill(process)

    def _start(self, name, main, *arguments):
        import pyspark

        home = Path(pyspark.__file__).parent
        command = [str(home / "bin" / "spark-class"), main, *arguments, "--host", LOOPBACK, "--webui-port", "0"]
        environment = {
            **os.environ,
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": LOOPBACK,
            "SPARK_NO_DAEMONIZE": "1",
            "SPARK_DAEMON_MEMORY": "256m",
            "PYSPARK_PYTHON": sys.executable,
        }
        with (self.folder / f"{name}.log").open("w") as log:
            process = subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, env=environment, cwd=self.folder, start_new_session=True
            )
        process.log = self.folder / f"{name}.log"
        return process

    @staticmethod
    def _wait_for(process, sentence, seconds=60):
        end = time.monotonic() + seconds
        while sentence not in process.log.read_text():
            if time.monotonic() > end or process.poll() is not None:
                msg = f"Spark did not say '{sentence}': {process.log.read_text()[-2000:]}"
                raise RuntimeError(msg)
            time.sleep(0.1)

    @staticmethod
    def _kill(process):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(20)


@contextlib.contextmanager
def cluster(folder):
    """A cluster that is gone afterwards, whatever happens."""
    running = None
    try:
        running = Cluster(folder)
        yield running
    finally:
        if running is not None:
            running.stop()
