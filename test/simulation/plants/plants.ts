/** A mistake that is planted in a copy of the service, or of its store, to see whether the simulation finds it. */
export interface Plant {
  name: string;
  /** What goes wrong, in a sentence. */
  about: string;
  changes: readonly Change[];
}

export interface Change {
  /** From the root of the repository. */
  file: string;
  /** Stands in it once. */
  from: string;
  to: string;
}

export const PLANTS: readonly Plant[] = [
  {
    name: "cancel-reads-anew",
    about: "A cancel names the run anew at each look, and so ends the messages that wait one by one",
    changes: [
      {
        file: "src/threads/say/cancel.ts",
        from: "while (!(await hasEnded(record, event, endsAt))) {",
        to: "while (record?.run && !(await hasEnded(record, { ...event, runId: record.run.runId }, endsAt))) {",
      },
    ],
  },
  {
    name: "cancel-trusts-memory",
    about: "A cancel is content with what a thread here says that its process has lost",
    changes: [
      {
        file: "src/threads/say/cancel.ts",
        from: "const isHere = thread?.fence === record.fence && thread?.run?.runId === runId;",
        to: "const isHere = thread !== undefined;",
      },
    ],
  },
  {
    name: "ends-any-run",
    about: "A cancel or a time-out that waited in the mailbox ends whatever run is under way by then",
    changes: [
      {
        file: "machines/thread.ts",
        from: 'ofThisRun: ({ context, event }) => "runId" in event && event.runId === runOf(context).id,',
        to: "ofThisRun: () => true,",
      },
    ],
  },
  {
    name: "stale-catalog",
    about:
      "A message that waited is offered the catalog that its thread's holder read when it took the thread",
    changes: [
      {
        file: "src/threads/hold/held-thread.ts",
        from: "    if (result.catalog) this.setCatalog(result.catalog);\n",
        to: "",
      },
    ],
  },
  {
    name: "unknown-holder",
    about: "A thread whose holder is not known among the heartbeats is taken up by nobody",
    changes: [
      {
        file: "src/threads/recover/recovery.ts",
        from: "    if (unknown.length > 0) await store.enter(unknown);\n",
        to: "    void unknown;\n",
      },
    ],
  },
  {
    name: "two-holders-words",
    about:
      "A follower does not compare what it told with how the run ended, and goes on with another holder's words",
    changes: [
      {
        file: "src/threads/following/mirrors.ts",
        from: "        if (!beginsWith(run.lines, log.lines)) return cut(mirror);\n",
        to: "",
      },
    ],
  },
  {
    name: "said-before-saved",
    about: "The lines of a step leave before its save",
    changes: [
      {
        file: "src/threads/hold/held-thread.ts",
        from: "    const { log } = this.#dependencies;\n    const about",
        to: "    if (!planned.change.begins) this.log.say(planned.change.lines);\n    const { log } = this.#dependencies;\n    const about",
      },
      {
        file: "src/threads/hold/held-thread.ts",
        from: "    this.log.say(change.lines);\n",
        to: "    if (change.begins) this.log.say(change.lines);\n",
      },
    ],
  },
  {
    name: "overlapping-lines",
    about: "A follower takes lines again that it knows, where a message comes twice",
    changes: [
      {
        file: "src/threads/following/mirrors.ts",
        from: "const news: Line[] = linesSince(lines, position - from);",
        to: "const news: Line[] = [...lines];",
      },
    ],
  },
  {
    name: "new-holder-goes-on",
    about: "A follower goes on with a new holder's lines, though it has told more than was saved",
    changes: [
      {
        file: "src/threads/following/mirrors.ts",
        from: "        if (position > base) return cut(mirror);\n        // There may have been another holder in between: the next read of the store tells whether this text was saved.\n        if (position > mirror.savedTo) return;\n",
        to: "",
      },
    ],
  },
  {
    name: "any-run-again",
    about: "Who re-attaches to a run that is named is shown whatever run is active or last",
    changes: [
      {
        file: "src/http/stream/follow-answer.ts",
        from: "await (runId === null",
        to: "await (runId !== undefined",
      },
    ],
  },
  {
    name: "error-in-reply",
    about: "A run that fails when all its text is in kept parts has its error's words added to its reply",
    changes: [
      {
        file: "src/domain/threads/past-run.ts",
        from: 'const streamedNothing = text === "" && !run.kept;',
        to: 'const streamedNothing = text === "";',
      },
    ],
  },
  {
    name: "pays-twice",
    about: "A tool that may not be repeated is called again after a takeover",
    changes: [
      {
        file: "machines/thread.ts",
        from: "callsUnderWay(runOf(context)).every(({ repeatable }) => repeatable) &&",
        to: "",
      },
    ],
  },
  {
    name: "any-answer",
    about: "The result of another call is taken for the pending one's",
    changes: [
      {
        file: "machines/thread.ts",
        from: "        event.callId === call.callId &&\n        event.tool",
        to: "        event.tool",
      },
    ],
  },
  {
    name: "waits-for-nobody",
    about: "A message is acknowledged as waiting where the thread was released meanwhile",
    changes: [
      {
        file: "src/threads/say/say.ts",
        from: 'if (waits.type === "free") return "again";',
        to: 'if (waits.type === "free") return waitBehind({ type: "waiting", fence: record.fence });',
      },
    ],
  },
  {
    name: "lost-claims-stay",
    about: "A thread that the store says a process holds, and of which it knows nothing, is never taken up",
    changes: [
      {
        file: "src/threads/recover/recovery.ts",
        from: "    await lost.look(alive().length, takeAll);\n",
        to: "    void lost;\n",
      },
    ],
  },
  {
    name: "queue-forgotten",
    about: "The store releases a thread while a message waits in it",
    changes: [
      {
        file: "src/stores/steps/threads/commit-writes.ts",
        from: "const isHeld = commit.holds || hasNext;",
        to: "const isHeld = commit.holds;",
      },
    ],
  },
  {
    name: "fences-not-compared",
    about: "The store takes commits of whoever held the thread once",
    changes: [
      {
        file: "src/stores/steps/threads/commit.ts",
        from: '  if (!isOwn && !(claims && isFree)) return "fenced";\n  if (facts.rev !== commit.rev) return "changed";\n',
        to: '  if (claims && !isOwn && !isFree) return "fenced";\n  if (claims && facts.rev !== commit.rev) return "changed";\n',
      },
    ],
  },
  {
    name: "revisions-not-compared",
    about: "The store takes a claim that was decided on an older state of the thread",
    changes: [
      {
        file: "src/stores/steps/threads/commit.ts",
        from: '  if (facts.rev !== commit.rev) return "changed";\n',
        to: "",
      },
      {
        file: "src/stores/steps/threads/commit.ts",
        from: "(facts.op !== commit.readOp || ",
        to: "(",
      },
    ],
  },
  {
    name: "queue-not-checked",
    about: "A commit does not check whether a message has joined the queue since its process knew it",
    changes: [
      {
        file: "src/stores/steps/threads/commit-writes.ts",
        from: "  if (before.fence !== null) checks.push(fieldIs(header, HEADER.waiting, before.waiting));\n",
        to: "",
      },
    ],
  },
  {
    name: "facts-not-checked",
    about: "A commit on what its process knows of the thread does not check that this is so still",
    changes: [
      {
        file: "src/stores/steps/threads/commit-writes.ts",
        from: "const checks: Check[] = [fieldIs(header, HEADER.op, before.op)];",
        to: "const checks: Check[] = [];",
      },
    ],
  },
  {
    name: "merge-drops-threads",
    about: "A merge leaves the visitor's threads behind",
    changes: [
      {
        file: "src/stores/steps/users/merge.ts",
        from: '      ...setting(key("names", into), names),\n',
        to: "",
      },
    ],
  },
  {
    name: "model-answers-too",
    about: "A message to a person who has the thread begins a run of the model",
    changes: [
      {
        file: "machines/thread.ts",
        from: '    with_person: {\n      on: {\n        "user.said": {\n          target: "with_person",\n          reenter: true,\n          actions: [\n            "beginRun",\n            "keepMessageForPerson",\n            "sayHandled",\n            "leaveToPerson",\n            "endRun",\n            "countUnanswered",\n          ],\n',
        to: '    with_person: {\n      on: {\n        "user.said": {\n          target: "running",\n          actions: ["beginRun", "keepMessage"],\n',
      },
    ],
  },
  {
    name: "nobody-answers",
    about:
      "A message that comes while a person has the thread is stored as if the model answered it, and it does not",
    changes: [
      {
        file: "src/threads/hold/plan-change.ts",
        from: '        ...(isAnswered ? {} : { handledBy: "person" as const }),\n',
        to: "",
      },
    ],
  },
  {
    name: "any-epoch",
    about: "A take is taken whatever epoch its operator saw",
    changes: [
      {
        file: "src/threads/handoff/people.ts",
        from: '        if (context.epoch !== epoch) throw new Refusal("conflict", WRONG_EPOCH);\n',
        to: "",
      },
      {
        file: "machines/thread.ts",
        from: 'isPresentEpoch: ({ context, event }) => "epoch" in event && event.epoch === context.epoch,',
        to: "isPresentEpoch: () => true,",
      },
    ],
  },
  {
    name: "waits-for-ever",
    about: "The wait for a person is in no list of deadlines",
    changes: [
      {
        file: "src/threads/hold/draft-commit.ts",
        from: "  return person?.deadlineMs ?? null;\n",
        to: "  void person;\n  return null;\n",
      },
    ],
  },
  {
    name: "keeps-silent",
    about: "A person who has the thread may leave the visitor without an answer for ever",
    changes: [
      {
        file: "src/stores/busy-states.ts",
        from: '  return state === "awaiting" || state === "waiting_for_person" || state === "with_person";\n',
        to: '  return state === "awaiting" || state === "waiting_for_person";\n',
      },
    ],
  },
  {
    name: "says-it-again",
    about: "What an operator's client repeats is said again",
    changes: [
      {
        file: "src/threads/handoff/people.ts",
        from: "if (known === undefined) mustHaveIt(context, said);\n        return known;",
        to: "void known;\n        mustHaveIt(context, said);\n        return undefined;",
      },
      {
        file: "src/threads/handoff/people.ts",
        from: "        ...(claim ? { claimsId: claim } : {}),\n",
        to: "",
      },
    ],
  },
  {
    name: "brought-back",
    about: "A message that was on its way when its thread was deleted is stored, and the thread is back",
    changes: [
      {
        file: "src/stores/steps/deletions/erase-thread.ts",
        from: "const { fence, op, deletedAtMs, lastFence, ...GONE_FIELDS } = HEADER;",
        to: "const { fence, op } = HEADER;\nconst { deletedAtMs, lastFence, ...GONE_FIELDS } = HEADER;",
      },
    ],
  },
  {
    name: "half-deleted",
    about: "What somebody who died has left undone of a deletion nobody carries out",
    changes: [
      {
        file: "src/threads/delete/forgetting.ts",
        from: "    carryOut: (deletion) => carryOut(store, deletion, tell, tellsDeletion),\n",
        to: "    carryOut: async () => {},\n",
      },
    ],
  },
  {
    name: "deleted-while-it-speaks",
    about: "The sweep deletes a thread in which somebody spoke after it was listed",
    changes: [
      {
        file: "src/threads/delete/forgetting.ts",
        from: "if (rev !== null && (await store.eraseUnchanged(uid, deletion.atMs, rev)) === null) return false;",
        to: "if (rev !== null) await store.eraseThread(uid, deletion.atMs);",
      },
    ],
  },
  {
    name: "tombstone-stays-listed",
    about: "A sweep that died after a thread's tombstone is not gone on with: what leads to the thread stays",
    changes: [
      {
        file: "src/operators/retention/retention.ts",
        from: "  return !isHeld;\n",
        to: "  return !isHeld && rev !== null;\n",
      },
      {
        file: "src/operators/retention/retention.ts",
        from: "function isOver({ isHeld }: RestingThread)",
        to: "function isOver({ isHeld, rev }: RestingThread)",
      },
    ],
  },
  {
    name: "tokens-not-asked",
    about: "An anonymous user who rests is deleted, though somebody may still come in as it",
    changes: [
      {
        file: "src/operators/retention/retained-users.ts",
        from: "  if (await store.hasValidToken(slug, userId)) return;\n",
        to: "",
      },
    ],
  },
  {
    name: "keys-stay-behind",
    about: "A merge leaves the keys behind by which the visitor's threads are encrypted",
    changes: [
      {
        file: "src/stores/steps/users/merge.ts",
        from: "leftKeys.filter(([id]) => !rightKeys.some(([known]) => known === id)),",
        to: "[],",
      },
    ],
  },
  {
    name: "user-stays",
    about: "A user who is deleted loses the threads, and is there still",
    changes: [
      {
        file: "src/stores/steps/deletions/unlist-user.ts",
        from: "      await eraseTokensOf(engine, slug, userId);\n",
        to: "",
      },
      {
        file: "src/stores/steps/deletions/unlist-user.ts",
        from: "  tables.grants,\n  tables.user,\n];",
        to: "  tables.grants,\n];",
      },
      {
        file: "src/stores/steps/deletions/unlist-user.ts",
        from: '      ...(account ? [{ write: "drop" as const, key: account }] : []),\n',
        to: "",
      },
    ],
  },
  {
    name: "words-of-a-half-turn",
    about:
      "A message that steers a run saves the words of the turn that goes on, which whoever takes it over says once more",
    changes: [
      {
        file: "src/threads/hold/known-thread.ts",
        from: 'run: this.run && (event.type === "run.steered" ? this.run : this.#runSoFar(this.run, used)),',
        to: "run: this.run && this.#runSoFar(this.run, used),",
      },
    ],
  },
  {
    name: "both-branches",
    about: "Who takes a run over tells its model the items of all branches",
    changes: [
      {
        file: "src/stores/steps/threads/reading.ts",
        from: "tail: chosenOf(messagesFrom(stored.entries, uid, open, known).reverse(), ranges),",
        to: "tail: messagesFrom(stored.entries, uid, open, known).reverse(),",
      },
    ],
  },
  {
    name: "approval-by-its-deadline",
    about: "A call that nobody has approved is made at its deadline",
    changes: [
      {
        file: "machines/thread.ts",
        from: '              target: "choosing",\n              actions: notMade(NOBODY_APPROVED),',
        to: '              target: "usingServerTool",\n              actions: ["approveCall", "sayStepsRunning"],',
      },
    ],
  },
  {
    name: "instructed-twice",
    about: "What the service wants said is not claimed under its id",
    changes: [
      {
        file: "src/threads/hold/claim.ts",
        from: "const made = planned?.change.messages[0] ?? planned?.change.run;",
        to: "const made = planned?.change.messages[0];",
      },
    ],
  },
];
