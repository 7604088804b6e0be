import { keyCheck, mustHoldKey } from "../../admission/keys.ts";
import type { PlainLog } from "../../log.ts";
import type { Threads } from "../../actors/threads.ts";
import { Refusal } from "../../domain/refusal.ts";
import { PAGE_FILES } from "../../inspector/page-files.ts";
import type { ChannelView, Sight, ThreadEntryView, UserView } from "../../inspector/views.ts";
import { watchThread } from "../../inspector/watch-thread.ts";
import type { HttpAnswer } from "../../listener.ts";
import type { Secret } from "../../secret.ts";
import type { Store } from "../../store.ts";
import { jsonAnswer } from "../route.ts";
import type { Asked, Route } from "../route.ts";

/** Newest users of a channel and threads of a user that the page offers. */
const OFFERED = 200;

/**
 * The page says nothing to other sites, runs no script but its own, and writes no markup from text: what a user or a
 * model said can only become text.
 */
const PAGE_HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-cache",
};

/**
 * /machines: the inspector (contract, INSPECTOR). The page's files are open; everything that they show needs the
 * inspector's key in an `authorization: Bearer` header. A link carries the key behind the `#`, which browsers send
 * nowhere, so it is in no log and no referrer. Whatever is answered went through `hide`, as the log's lines do.
 */
export function inspectorRoutes(parts: {
  key: Secret;
  store: Store;
  threads: Pick<Threads, "follow">;
  log: PlainLog;
  hide: (text: string) => string;
  /** How to end each watch that is open, for a service that stops. */
  open: Set<() => void>;
}): Route[] {
  const { key, store, threads, log, hide, open } = parts;
  const isKey = keyCheck(key);

  function guarded(path: string, answer: (asked: Asked) => Promise<HttpAnswer>): Route {
    return {
      method: "GET",
      path: `/machines/api${path}`,
      api: "server",
      documentation: "hidden",
      handle(asked) {
        mustHoldKey(asked.request, isKey);
        return answer(asked);
      },
    };
  }

  const json = (value: unknown): HttpAnswer => {
    const answer = jsonAnswer(200, value);
    return { ...answer, body: hide(String(answer.body)) };
  };

  async function channels(): Promise<HttpAnswer> {
    const all = await store.channels();
    return json(all.map(({ slug, kind }): ChannelView => ({ slug, kind })));
  }

  async function users({ params }: Asked): Promise<HttpAnswer> {
    const all = await store.users(params["slug"] ?? "");
    const view = all.map(({ userId, externalId, displayName }): UserView => ({
      userId,
      externalUserId: externalId,
      displayName,
    }));
    return json(newest(view));
  }

  async function threadsOf({ params }: Asked): Promise<HttpAnswer> {
    const { slug = "", user: id = "" } = params;
    const user = await store.findUser(slug, id);
    if (user === null) throw new Refusal("not-found", "No such user");
    const all = await store.threads(slug, user.userId);
    const view = all.map(({ uid, threadId: name, createdAtMs }): ThreadEntryView => ({
      id: uid,
      threadId: name,
      createdAt: createdAtMs,
    }));
    return json(newest(view));
  }

  async function watch({ params }: Asked): Promise<HttpAnswer> {
    return {
      status: 200,
      headers: {
        "content-type": "application/x-ndjson",
        "cache-control": "no-store, no-transform",
        "x-accel-buffering": "no",
      },
      stream(outlet) {
        const tell = (sight: Sight) => outlet.write(`${hide(JSON.stringify(sight))}\n`);
        const stop = watchThread({ store, threads, log }, params["id"] ?? "", tell);
        const end = () => {
          open.delete(end);
          stop();
          outlet.end();
        };
        open.add(end);
        outlet.onGone(() => {
          open.delete(end);
          stop();
        });
      },
    };
  }

  return [
    ...Object.entries(PAGE_FILES).map(([path, load]) => pageRoute(path, load)),
    guarded("/channels", channels),
    guarded("/channels/:slug/users", users),
    guarded("/channels/:slug/users/:user/threads", threadsOf),
    guarded("/threads/:id", watch),
  ];
}

function newest<Item>(items: readonly Item[]): Item[] {
  return items.slice(-OFFERED).reverse();
}

function pageRoute(path: string, load: () => Promise<{ type: string; body: string | Uint8Array }>): Route {
  return {
    method: "GET",
    path: `/machines${path}`,
    api: "open",
    documentation: "hidden",
    async handle() {
      const { type, body } = await load();
      return { status: 200, headers: { ...PAGE_HEADERS, "content-type": type }, body };
    },
  };
}
