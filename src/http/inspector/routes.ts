import type { KeyDoor } from "../../admission/key-door.ts";
import { keyCheck } from "../../admission/keys.ts";
import type { Threads } from "../../actors/threads.ts";
import { PAGE_FILES } from "../../inspector/page-files.ts";
import type { Sight } from "../../inspector/views.ts";
import { watchThread } from "../../inspector/watch-thread.ts";
import type { HttpAnswer } from "../../listener.ts";
import type { PlainLog } from "../../log.ts";
import type { Secret } from "../../secret.ts";
import type { Store } from "../../store.ts";
import { jsonAnswer } from "../route.ts";
import type { Route, RouteRequest } from "../route.ts";
import { channelViews, threadViews, userViews } from "./listings.ts";
import { pageRoute } from "./page-route.ts";

export interface InspectorDependencies {
  key: Secret;
  keyDoor: KeyDoor;
  store: Store;
  threads: Pick<Threads, "follow">;
  log: PlainLog;
  /** Takes secrets out of a text. */
  hide: (text: string) => string;
  /** How to end each watch that is open, for a service that stops. */
  open: Set<() => void>;
}

/**
 * /machines: the inspector (contract, INSPECTOR). The page's files are open; everything that they show needs the
 * inspector's key in an `authorization: Bearer` header. A link carries the key behind the `#`, which browsers send
 * nowhere, so it is in no log and no referrer. Every answer goes through `hide`, as the log's lines do.
 */
export function inspectorRoutes(dependencies: InspectorDependencies): Route[] {
  const { key, keyDoor, store, hide } = dependencies;
  const isKey = keyCheck(key);

  function guarded(path: string, handle: (params: RouteRequest["params"]) => Promise<HttpAnswer>): Route {
    return {
      method: "GET",
      path: `/machines/api${path}`,
      api: "server",
      documentation: "hidden",
      handle({ request, params }) {
        keyDoor.mustHold(request, isKey, "the inspector's key");
        return handle(params);
      },
    };
  }

  const json = (value: unknown): HttpAnswer => {
    const answer = jsonAnswer(200, value);
    return { ...answer, body: hide(String(answer.body)) };
  };

  return [
    ...Object.entries(PAGE_FILES).map(([path, load]) => pageRoute(path, load)),
    guarded("/channels", async () => json(await channelViews(store))),
    guarded("/channels/:slug/users", async ({ slug = "" }) => json(await userViews(store, slug))),
    guarded("/channels/:slug/users/:user/threads", async ({ slug = "", user = "" }) =>
      json(await threadViews(store, slug, user)),
    ),
    guarded("/threads/:id", async ({ id = "" }) => watchAnswer(dependencies, id)),
  ];
}

/** What is seen of a thread, a JSON object a line, until the reader or the service leaves. */
function watchAnswer({ store, threads, log, hide, open }: InspectorDependencies, uid: string): HttpAnswer {
  return {
    status: 200,
    headers: {
      "content-type": "application/x-ndjson",
      "cache-control": "no-store, no-transform",
      "x-accel-buffering": "no",
    },
    stream(outlet) {
      const write = (sight: Sight) => outlet.write(`${hide(JSON.stringify(sight))}\n`);
      const watched = watchThread({ store, threads, log }, uid, write);
      const end = () => {
        open.delete(end);
        watched.stop();
        outlet.end();
      };
      open.add(end);
      outlet.onGone(() => {
        open.delete(end);
        watched.stop();
      });
    },
  };
}
