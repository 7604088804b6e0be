import type { Play } from "./play.ts";

/** What clients do, step by step: each step waits for the one before it. */
export interface Scenario {
  name: string;
  act(play: Play): Promise<unknown>;
  /** Environment of the service, where it differs. */
  env?: Record<string, string>;
  /** With a server-side tool. */
  needsTool?: boolean;
}

/** A run that stops in the middle of its answer, and what is done meanwhile. */
async function whileItSpeaks(
  play: Play,
  words: string,
  meanwhile: () => Promise<unknown>,
  send: (words: string) => Promise<unknown> = (said) => play.tell(said),
): Promise<void> {
  play.model.hold(play.text(words));
  try {
    const first = send(words);
    await Promise.race([play.model.held(play.text(words)), first]);
    await meanwhile();
    play.model.release(play.text(words));
    await first;
  } finally {
    play.model.release(play.text(words));
  }
}

/** Two messages, each acknowledged before the next one is sent; answers their ends. */
async function tellTwo(play: Play): Promise<Promise<unknown>[]> {
  const ends: Promise<unknown>[] = [];
  for (const words of ["second", "third"]) {
    await new Promise<void>((resolve, reject) => {
      const end = play.tell(words, { accepted: resolve });
      end.catch(reject);
      ends.push(end);
    });
  }
  return ends;
}

async function enterWithTools(play: Play, ...tools: string[]): Promise<void> {
  await play.enter();
  await play.register(...tools);
}

export const SCENARIOS: readonly Scenario[] = [
  { name: "a plain message", act: (play) => play.tell("first") },
  {
    name: "two queued messages",
    async act(play) {
      let ends: Promise<unknown>[] = [];
      await whileItSpeaks(play, "first", async () => {
        ends = await tellTwo(play);
      });
      await Promise.all(ends);
    },
  },
  { name: "a server-side tool", needsTool: true, act: (play) => play.tell("first #calls clock") },
  {
    name: "a page tool, pending",
    async act(play) {
      await enterWithTools(play, "cart");
      await play.say("first #calls cart");
    },
  },
  {
    name: "a page tool, answered",
    async act(play) {
      await enterWithTools(play, "cart");
      await play.answer(await play.say("first #calls cart"));
    },
  },
  {
    name: "three page tools",
    async act(play) {
      await enterWithTools(play, "cart", "map");
      let line = await play.say("first #calls cart,map,cart");
      for (let calls = 0; calls < 3; calls++) line = await play.answer(line);
    },
  },
  {
    name: "a superseded call",
    async act(play) {
      await enterWithTools(play, "cart");
      await play.say("first #calls cart");
      await play.say("second");
    },
  },
  {
    name: "a cancel",
    act: (play) => whileItSpeaks(play, "first", () => play.cancel()),
  },
  {
    name: "an expired call",
    env: { TOOL_RESULT_TIMEOUT_SECONDS: "1" },
    async act(play) {
      await enterWithTools(play, "cart");
      await play.say("first #calls cart");
      await play.expired();
    },
  },
  {
    name: "identify, promoted",
    async act(play) {
      await play.enter();
      await play.say("first");
      await play.identify(`account-${play.id}`);
      await play.say("second");
    },
  },
  {
    name: "identify, merged",
    async act(play) {
      await play.tell("first", { channel: "shop" });
      await play.enter();
      await play.say("second");
      await play.identify(`user-${play.id}`);
      await play.say("third");
    },
  },
  {
    name: "a visitor, a thread, a catalog",
    async act(play) {
      await enterWithTools(play, "cart");
      await play.register();
      await play.say("first");
    },
  },
  {
    name: "access, a message, and a look at it",
    async act(play) {
      await play.access();
      await play.tell("first");
      await play.lookUp();
    },
  },
  {
    name: "a stream that is read twice",
    async act(play) {
      await play.enter();
      let again: Promise<unknown> = Promise.resolve();
      const attach = () =>
        new Promise<void>((resolve, reject) => {
          again = play.follow({ accepted: resolve });
          again.catch(reject);
        });
      await whileItSpeaks(play, "first", attach, (words) => play.say(words));
      await again;
    },
  },
  {
    name: "a cancel on the page",
    async act(play) {
      await play.enter();
      await whileItSpeaks(
        play,
        "first",
        () => play.stop(),
        (words) => play.say(words),
      );
    },
  },
  {
    name: "a person is asked for, answers, and gives the thread back",
    async act(play) {
      await play.enter();
      await play.say("first");
      await play.askPerson();
      await play.say("second");
      await play.take();
      await play.write("I am here");
      await play.say("third");
      await play.giveBack("return");
      await play.say("fourth");
    },
  },
  {
    name: "a person takes a run that goes on",
    async act(play) {
      await play.enter();
      await whileItSpeaks(
        play,
        "first",
        () => play.take(),
        (words) => play.say(words),
      );
      await play.write("I go on");
      await play.giveBack("close");
    },
  },
  {
    name: "a person takes a pending call",
    async act(play) {
      await enterWithTools(play, "cart");
      await play.say("first #calls cart");
      await play.take();
      await play.write("I have a look myself");
    },
  },
  {
    name: "a wait that the visitor ends",
    async act(play) {
      await play.enter();
      await play.askPerson();
      await play.say("first");
      await play.stopWaiting();
      await play.say("second");
    },
  },
  {
    name: "a person who does not come",
    async act(play) {
      await play.tell("first");
      await play.callPerson();
      await play.tell("second");
      await play.expired();
    },
  },
  {
    name: "the model asks for a person",
    async act(play) {
      await play.enter();
      await play.say("first #calls hand_off");
      await play.take();
      await play.write("What is it?");
      await play.giveBack("return");
    },
  },
  {
    name: "a history that is read as it grows",
    async act(play) {
      await play.enter();
      await play.read();
      await play.say("first");
      await play.read();
    },
  },
];
