import { AsyncLocalStorage } from "node:async_hooks";
import type { Adapter, ChatInstance, Logger, Message, StateAdapter, WebhookOptions } from "chat";

/**
 * What an adapter gets in the place of the Chat SDK's own runtime, which answers the platform before anything is saved, and
 * drops messages that come during a run. It takes what the adapter has verified and parsed, and knows which request brought
 * it: so the answer to the platform can wait until it is saved.
 */
export interface Inbox {
  chat: ChatInstance;
  /**
   * Hands a request to the adapter, and waits until everything that it brought was saved. `failed`: something was not, or
   * is not yet, and the platform must send it again.
   */
  receive(adapter: Adapter, request: Request): Promise<{ response: Response; failed: unknown }>;
}

/** A message as an adapter understood it, once it is known which thread it is of. */
export interface Arrived {
  adapter: Adapter;
  threadId: string;
  message: Message;
}

interface Call {
  saving: Promise<void>[];
  others: Promise<unknown>[];
  failed: unknown;
}

/** An album is put together for a second or two; the platforms' own requests wait for 10 s and more. */
const WAIT_MS = 8_000;
const UNREPEATED_TRIES = 60;
const UNREPEATED_MS = 1_000;

export function createInbox({
  state,
  logger,
  userName,
  save,
}: {
  state: StateAdapter;
  logger: Logger;
  userName: string;
  /** Resolves when the message is stored, or is none that is to be. */
  save: (arrived: Arrived) => Promise<void>;
}): Inbox {
  const calls = new AsyncLocalStorage<Call>();
  /** Of all requests: another one's request may save what this one brought, as with albums. */
  const inFlight = new Set<Promise<void>>();
  let failures = 0;

  function take(
    adapter: Adapter,
    threadId: string,
    message: Message | (() => Promise<Message>),
    options?: WebhookOptions,
  ) {
    const call = calls.getStore();
    const saving = (async () => {
      const parsed = typeof message === "function" ? await message() : message;
      const arrived = { adapter, threadId, message: parsed };
      await (call ? save(arrived) : saveUnrepeated(arrived));
    })().catch((error: unknown) => {
      failures++;
      if (call) call.failed = error;
    });
    inFlight.add(saving);
    void saving.finally(() => inFlight.delete(saving));
    call?.saving.push(saving);
    // Teams lets its handler end by this alone.
    options?.waitUntil?.(saving);
    return saving;
  }

  /** A connection that stays open sends nothing again. */
  async function saveUnrepeated(arrived: Arrived): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await save(arrived);
      } catch (error) {
        if (tries === UNREPEATED_TRIES) {
          logger.error("a message was lost: it could not be saved, and its platform does not repeat it");
          throw error;
        }
        await new Promise((resolve) => setTimeout(resolve, UNREPEATED_MS));
      }
    }
  }

  const ignored = () => Promise.resolve();
  const refusedApi = (name: string) => (): never => {
    throw new Error(`Cannot use ${name}: it is of the Chat SDK's own runtime`);
  };

  const chat: ChatInstance = {
    abortTurn: ignored,
    getLogger: () => logger,
    getState: () => state,
    getUserName: () => userName,
    handleIncomingMessage: (adapter, threadId, message) => take(adapter, threadId, message),
    processMessage: take,
    processSlashCommand({ adapter, channelId, command, text, raw, user }, options) {
      const message = commandMessage(adapter, { channelId, command, text, raw, user });
      return message ? take(adapter, channelId, message, options) : undefined;
    },
    // A button or a list of theirs: this service sends none.
    processAction: ignored,
    processReaction: ignored,
    // What was said is said: an edit or a deletion at the platform changes nothing here (README).
    processMessageDeleted: ignored,
    processMessageUpdated: ignored,
    processAgentSessionStopped() {},
    processAgentSessionTitleChanged() {},
    processAppContextChanged() {},
    processAppHomeOpened() {},
    processAssistantContextChanged() {},
    processAssistantThreadStarted() {},
    processMemberJoinedChannel() {},
    processModalClose() {},
    processModalSubmit: () => Promise.resolve(undefined),
    processOptionsLoad: () => Promise.resolve(undefined),
    get history(): ChatInstance["history"] {
      return refusedApi("history")();
    },
    get transcripts(): ChatInstance["transcripts"] {
      return refusedApi("transcripts")();
    },
  };

  return {
    chat,
    async receive(adapter, request) {
      const call: Call = { saving: [], others: [], failed: null };
      const waitUntil = (task: Promise<unknown>) => void call.others.push(task.catch(() => {}));
      const before = failures;
      const response = await calls.run(call, () => adapter.handleWebhook(request, { waitUntil }));
      const isLate = await outlasts(call);
      if (call.saving.length === 0 && call.others.length > 0) {
        // Another request may be saving what this one brought.
        await Promise.all(inFlight);
        if (isLate || failures > before) call.failed ??= new Error("The message is not saved yet");
      }
      return { response, failed: call.failed };
    },
  };
}

/** Waits until everything of the request is done. True: some of it is not. */
async function outlasts(call: Call): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<true>((resolve) => {
    timer = setTimeout(() => resolve(true), WAIT_MS);
  });
  try {
    for (let seen = -1; seen !== call.saving.length + call.others.length;) {
      seen = call.saving.length + call.others.length;
      await Promise.all(call.saving);
      const isLate = await Promise.race([Promise.all(call.others).then(() => false), late]);
      if (isLate) return true;
    }
    return false;
  } finally {
    clearTimeout(timer);
  }
}

/** A command that is a message, as Telegram's are. Of platforms whose commands are none: null. */
function commandMessage(
  adapter: Adapter,
  { raw }: { channelId: string; command: string; text: string; raw: unknown; user: unknown },
): Message | null {
  try {
    const message = adapter.parseMessage(raw);
    return message.id && message.text ? message : null;
  } catch {
    return null;
  }
}
