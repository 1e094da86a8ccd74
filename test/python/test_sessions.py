# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sessions on threads, in forked processes, and on the emulated device."""
from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import tutti
from device import DeviceArray
from support import Package, digits, images


class Threads(Package):
    def test_one_session_each(self):
        artifact, wrong = tutti.load(digits()), []
        expected = artifact.session(device="cpu", threads=1).run({"image": images(16)})["logits"]

        def work():
            session = artifact.session(device="cpu", threads=1)
            for _ in range(50):
                wrong.append((session.run({"image": images(16)})["logits"] != expected).any())
        threads = [threading.Thread(target=work) for _ in range(4)]
        [t.start() for t in threads], [t.join() for t in threads]
        self.assertEqual((len(wrong), any(wrong)), (200, False))

    def test_one_session_for_all(self):
        """Calls at once are refused, and none of them gets the answer of another."""
        session, said, wrong = tutti.load(digits()).session(device="cpu", threads=1), set(), []
        right = [session.run({"image": images(16) + i})["logits"] for i in range(4)]

        def work(i):
            for _ in range(300):
                try:
                    wrong.append((session.run({"image": images(16) + i})["logits"] != right[i]).any())
                except tutti.UsageError as error:
                    said.add(error.status)
        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        before = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        [t.start() for t in threads], [t.join() for t in threads]
        sys.setswitchinterval(before)
        self.assertLessEqual(said, {tutti.Status.BUSY})
        self.assertTrue(wrong and not any(wrong))

    def test_fork(self):
        session = tutti.load(digits()).session(device="cpu", threads=2)
        session.run({"image": images(2)})
        child = os.fork()
        if not child:
            try:
                session.run({"image": images(2)})
            except tutti.UsageError as error:
                os._exit(0 if error.status == tutti.Status.FORKED else 1)
            os._exit(2)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)


    def test_interpreter_ends_during_a_run(self):
        """Threads that nobody waits for do not end the process by a signal."""
        script = f"""if 1:
            import threading, sys, time, numpy as np, tutti
            session = tutti.load({str(digits())!r}).session(device="cpu", threads=2)
            image = np.zeros((16, 64), np.float32)
            def work():
                while True:
                    session.run({{"image": image}})
            for _ in range(3):
                threading.Thread(target=work, daemon=True).start()
            time.sleep(0.2)
            sys.exit(3)"""
        for _ in range(5):
            self.assertEqual(subprocess.run([sys.executable, "-c", script], timeout=60, stderr=subprocess.DEVNULL).returncode, 3)

    def test_interpreter_ends_once_threads_have(self):
        """What is called at the end may wait for a thread that runs."""
        script = f"""if 1:
            import atexit, threading, time, numpy as np
            stop, threads = threading.Event(), []
            atexit.register(lambda: (stop.set(), [thread.join() for thread in threads], print("joined")))
            import tutti
            session = tutti.load({str(digits())!r}).session(device="cpu", threads=1)
            image = np.zeros((16, 64), np.float32)
            def work():
                while not stop.is_set():
                    session.run({{"image": image}})
            threads.append(threading.Thread(target=work, daemon=True))
            threads[0].start()
            time.sleep(0.2)"""
        said = subprocess.run([sys.executable, "-c", script], timeout=60, check=True, capture_output=True, text=True)
        self.assertEqual(said.stdout, "joined\n")

    def test_close_during_a_run(self):
        """The run is waited for, and there is no next one, also for a thread that does nothing else."""
        for threads in (1, 2):
            session, done, runs = tutti.load(digits()).session(device="cpu", threads=threads), [], []

            def work():
                try:
                    while True:
                        runs.append(session.run({"image": images_of_all}))
                except tutti.UsageError as error:
                    done.append((error.status, str(error)))
            images_of_all = images(16)
            thread = threading.Thread(target=work)
            thread.start()
            while len(runs) < 100:
                time.sleep(0.001)
            session.close()
            with self.fails(tutti.UsageError, "INVALID_ARGUMENT", "closed"):
                session.run()
            thread.join()
            self.assertEqual(done, [(tutti.Status.INVALID_ARGUMENT, "the session is closed")])

    def test_close_on_several_threads(self):
        for _ in range(20):
            session, wrong = tutti.load(digits()).session(device="cpu", threads=1), []

            def work(call):
                try:
                    while call() is not None:
                        pass
                except tutti.UsageError as error:
                    if error.status not in (tutti.Status.BUSY, tutti.Status.INVALID_ARGUMENT) or call == session.close:
                        wrong.append(error)
            image = images(16)
            threads = [threading.Thread(target=work, args=(lambda: session.run({"image": image}),)) for _ in range(2)]
            threads += [threading.Thread(target=work, args=(session.close,)) for _ in range(3)]
            [t.start() for t in threads], [t.join() for t in threads]
            self.assertEqual((wrong, repr(session)), ([], "<tutti.Session, closed>"))

    def test_close_within_a_call(self):
        """A thread does not wait for itself."""
        session = tutti.load(digits()).session(device="cpu", threads=1)

        class Closes:
            def __dlpack__(self, **_):
                session.close()
        with self.fails(tutti.UsageError, "INVALID_ARGUMENT", "another call of the session"):
            session.run({"image": Closes()})
        self.assertEqual(session.run({"image": images(2)})["logits"].shape, (10, 2, 10))

        class LetGo(np.ndarray):
            def __del__(self):
                session.close()
        image = images(2).view(LetGo)
        session.bind_input("image", image)
        del image
        session.close()
        self.assertIn("closed", repr(session))

    def waiting(self, session):
        """A thread in a call of the session, which ends once the event is set."""
        entered, leave = threading.Event(), threading.Event()

        class Slow:
            def __dlpack__(self, **how):
                entered.set()
                leave.wait()
                return images(2).__dlpack__(**how)
        thread = threading.Thread(target=lambda: session.run({"image": Slow()}))
        thread.start()
        entered.wait()
        return thread, leave

    def test_close_is_interrupted(self):
        """Then the session is as it was."""
        session = tutti.load(digits()).session(device="cpu", threads=1)
        thread, leave = self.waiting(session)
        threading.Timer(0.2, lambda: signal.raise_signal(signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            session.close()
        with self.fails(tutti.UsageError, "BUSY"):
            session.run()
        leave.set()
        thread.join()
        self.assertEqual(session.run({"image": images(2)})["logits"].shape, (10, 2, 10))

    def test_fork_while_closing(self):
        session = tutti.load(digits()).session(device="cpu", threads=1)
        thread, leave = self.waiting(session)
        closer = threading.Thread(target=session.close)
        closer.start()
        while "closed" not in str(self.refusal(session)):
            time.sleep(0.001)
        child = os.fork()
        if not child:
            said = self.refusal(session).status, self.refusal(session, session.close).status
            os._exit(0 if said == (tutti.Status.FORKED,) * 2 else 1)
        leave.set()
        thread.join(), closer.join()
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertIn("closed", repr(session))

    def refusal(self, session, call=None):
        try:
            (call or session.wait)()
        except tutti.UsageError as error:
            return error

    def test_close_once_the_interpreter_has_ended(self):
        """A thread that is in a call then never leaves it: it is not waited for."""
        script = f"""if 1:
            import os, threading, time, tutti
            class Owner:
                def __init__(self, session):
                    self.session = session
                def __del__(self, write=os.write, fails=Exception):
                    try:
                        self.session.close()
                    except fails:
                        write(1, b"not closed")
            class Slow:
                def __dlpack__(self, **_):
                    entered.set()
                    time.sleep(1000)
            entered, tutti.owner = threading.Event(), Owner(tutti.load({str(digits())!r}).session(device="cpu", threads=1))
            threading.Thread(target=lambda session: session.run({{"image": Slow()}}), args=(tutti.owner.session,), daemon=True).start()
            entered.wait()"""
        said = subprocess.run([sys.executable, "-c", script], timeout=60, check=True, capture_output=True, text=True)
        self.assertEqual(said.stdout, "not closed")

    def test_close_by_with(self):
        session = tutti.load(digits()).session(device="cpu", threads=1)
        session.close()
        with self.assertRaisesRegex(KeyError, "said first"):
            with tutti.load(digits()).session(device="cpu", threads=1):
                raise KeyError("said first")
        with self.assertRaisesRegex(tutti.UsageError, "closed"):
            with session:
                pass


class Device(Package):
    """The emulated device: what a GPU takes, by the same calls."""

    def setUp(self):
        self.image = images(4)
        self.session = tutti.load(digits()).session(device="emulated")
        self.expected = self.session.run({"image": self.image})

    def test_in_the_host_s_memory(self):
        self.assertEqual((self.session.device.kind, self.session.program.device), ("emulated", "cuda"))
        cpu = tutti.load(digits()).session(device="cpu").run({"image": self.image})
        for key, value in cpu.items():
            np.testing.assert_allclose(self.expected[key], value, rtol=1e-4, atol=1e-4)

    def test_in_the_device_s_memory(self):
        image, logits = DeviceArray.of(self.image), DeviceArray.of(np.zeros((10, 4, 10), np.float32))
        answers = self.session.run({"image": image}, out={"logits": logits})
        self.assertIs(answers["logits"], logits)
        self.assertTrue((logits.numpy() == self.expected["logits"]).all())
        self.assertTrue((answers["logits.mean"] == self.expected["logits.mean"]).all())
        with self.fails(tutti.UsageError, "INVALID_ARGUMENT"):
            tutti.load(digits()).session(device="cpu").run({"image": image})

    def test_runs_in_the_order_of_the_stream(self):
        logits = DeviceArray.of(np.zeros((10, 4, 10), np.float32))
        self.session.bind_output("logits", logits)
        gc.collect()
        alive = DeviceArray.alive
        for shift in range(3):
            self.session.bind_input("image", DeviceArray.of(self.image + shift))
            self.session.run_async()
        gc.collect()
        self.assertEqual(DeviceArray.alive, alive + 3)       # what runs may still read lives on
        self.session.bind_input("image", None)
        gc.collect()
        self.assertEqual(DeviceArray.alive, alive + 3)
        self.session.wait()
        gc.collect()
        self.assertEqual(DeviceArray.alive, alive)
        self.assertTrue((logits.numpy() == self.session.run({"image": self.image + 2})["logits"].numpy()).all())

    def test_loops_that_never_wait(self):
        gc.collect()
        alive = DeviceArray.alive
        self.session.active = [0]
        for _ in range(100):
            self.session.bind_input("image", DeviceArray.of(self.image))
            self.session.run_async()
            self.assertLess(DeviceArray.alive, alive + 70)
        self.session.wait()
        cpu = tutti.load(digits()).session(device="cpu", threads=1)
        image = self.image.copy()
        held = weakref.ref(image)
        cpu.bind_input("image", image)
        cpu.run_async()
        cpu.bind_input("image", self.image)      # a run on a CPU has ended
        del image
        self.assertIsNone(held())

    def test_arrays_are_let_go(self):
        before = DeviceArray.alive
        with tutti.load(digits()).session(device="emulated") as session:
            for bound in (0, 1, 1):
                session.run({"image": DeviceArray.of(self.image)})
                gc.collect()
                self.assertEqual(DeviceArray.alive, before + bound)
                session.bind_input("image", DeviceArray.of(self.image))
                session.run()
                gc.collect()
                self.assertEqual(DeviceArray.alive, before + 1)
        gc.collect()
        self.assertEqual(DeviceArray.alive, before)
