"""What a loop of arms must do, in plain Python: the model that the service is compared with."""

AGGREGATES = {
    "last": lambda v: v[-1],
    "sum": sum,
    "mean": lambda v: sum(v) / len(v),
    "max": max,
}


class Made:
    def __init__(self, arm, request, held, now, window):
        self.chosen = self.shown = arm
        self.request, self.window = request, window
        self.state = "held" if held else "pending"
        self.expires = None if held else now + window
        self.rewards = []  # reported before the window closed
        self.late = []
        self.learned = []  # rewards for `shown`
        self.served = None


class Model:
    def __init__(self, rewards, late, window):
        self.rule, self.late, self.window = rewards, late, window
        self.made, self.orphans = {}, {}
        self.orphaned = self.matched = 0

    def repeats(self, rewards, reward, at):
        if not rewards:
            return False
        if at is not None and (reward, at) in rewards:
            return True
        if self.rule in ("sum", "mean"):
            return False
        if self.rule == "last":
            return at is None and rewards[-1][0] == reward
        return any(value == reward for value, _ in rewards)

    def decide(self, name, request, held, now, arm):
        """Return the state answered, or "conflict"; `arm` is what the service chose."""
        if name in self.made:
            return self.made[name].state if self.made[name].request == request else "conflict"
        made = self.made[name] = Made(arm, request, held, now, self.window)
        if not held:
            self.match(name, made, now)
        return made.state

    def match(self, name, made, now):
        rewards, expires = self.orphans.pop(name, ([], None))
        if rewards and expires >= now:
            self.matched += len(rewards)
            if self.rule == "first":
                self.settle(made, rewards[0][0])
            else:
                for reward, at in rewards:
                    if reward is None and made.state == "pending":
                        self.close(made)
                    elif reward is not None:
                        (made.rewards if made.state == "pending" else made.late).append(
                            (reward, at)
                        )

    def settle(self, made, reward):
        made.state = "censored" if reward is None else "observed"
        if reward is not None:
            made.learned.append(reward)

    def close(self, made):
        values = [value for value, _ in made.rewards]
        self.settle(made, AGGREGATES[self.rule](values) if values else None)
        return made.state

    def sweep(self, now):
        for made in self.made.values():
            if made.state == "pending" and made.expires < now:
                self.close(made)

    def clock_set_back(self, now):
        for made in self.made.values():
            if made.state == "pending":
                made.expires = min(made.expires, now + made.window)
        for name, (rewards, expires) in self.orphans.items():
            self.orphans[name] = rewards, min(expires, now + self.window)

    def activate(self, name, now):
        made = self.made.get(name)
        if made is None:
            return "unknown"
        if made.state == "held":
            made.state, made.expires = "pending", now + made.window
            self.match(name, made, now)
        return made.state

    def serve(self, name, arm):
        made = self.made.get(name)
        if made is None:
            return "unknown"
        if made.state not in ("held", "pending"):
            return "conflict"
        if made.served is not None or arm != made.chosen:
            made.shown = made.served = arm
        return made.state

    def outcome(self, name, reward, at, now):
        made = self.made.get(name)
        if made is None:
            return self.orphan(name, reward, at, now)
        if made.state == "held":
            return "conflict"
        if made.state == "pending" and made.expires < now:
            closed = self.close(made)
            return closed if reward is None else self.too_late(made, reward, at)
        if made.state == "pending":
            if reward is None:
                return self.close(made)
            if self.rule == "first":
                self.settle(made, reward)
            elif not self.repeats(made.rewards, reward, at):
                made.rewards.append((reward, at))
            return made.state
        if reward is None:
            first = self.rule == "first" and made.state == "observed" and not made.late
            return "conflict" if first else made.state
        if self.rule == "first":
            known = [value for value, _ in made.late] or made.learned
            if known:
                same = "late" if made.late else made.state
                return same if known[-1] == reward else "conflict"
        elif self.repeats(made.rewards + made.late, reward, at):
            return made.state
        return self.too_late(made, reward, at)

    def too_late(self, made, reward, at):
        made.late.append((reward, at))
        if made.state == "censored" and self.late == "learn":
            self.settle(made, reward)
        return "late"

    def orphan(self, name, reward, at, now):
        rewards, expires = self.orphans.get(name, ([], None))
        if rewards and expires >= now:
            several = self.rule != "first" and reward is not None
            known = rewards[-1][0] == reward
            if self.repeats(rewards, reward, at) if several else known:
                return "orphan"
            if self.rule == "first":
                return "conflict"
        else:
            self.orphans[name] = rewards, expires = [], now + self.window
        rewards.append((reward, at))
        self.orphaned += 1
        return "orphan"

    def learned(self):
        """Return the sum and number of rewards learned, per arm."""
        found = {}
        for made in self.made.values():
            for reward in made.learned:
                total, count = found.get(made.shown, (0.0, 0))
                found[made.shown] = total + reward, count + 1
        return found

    def counted(self):
        states = [made.state for made in self.made.values()]
        late = sum(len(made.late) for made in self.made.values())
        return {
            "decided": len(states),
            "held": states.count("held"),
            "pending": states.count("pending"),
            "late": late,
            "unmatched": self.orphaned - self.matched,
        }
