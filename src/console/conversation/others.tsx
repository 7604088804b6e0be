import { useLoaded } from "../parts/use-loaded.ts";
import { Time } from "../parts/times.tsx";
import { pathOf } from "../service/api.ts";
import type { ThreadView } from "../service/views.ts";
import { useConsole } from "../shell/console-context.ts";
import { linkTo } from "../shell/route.ts";

/** So many of the customer's other conversations are shown. */
const SHOWN = 5;

/** The customer's other conversations, the latest activity first; nothing where there are none. */
export function Others({ slug, id, userId }: { slug: string; id: string; userId: string }) {
  const { api } = useConsole();
  const query = { userId, limit: SHOWN + 1 };
  const loaded = useLoaded<ThreadView[]>(
    async (signal) => (await api.list<ThreadView>(pathOf("channels", slug, "threads"), query, signal)).items,
    [slug, userId],
  );
  const others = (loaded.value ?? []).filter((thread) => thread.id !== id);
  if (others.length === 0) return null;
  return (
    <section class="others" aria-labelledby="others">
      <h3 id="others">Other conversations</h3>
      <ul>
        {others.slice(0, SHOWN).map((thread) => (
          <li key={thread.id}>
            <a href={linkTo(["channels", slug, "threads", thread.id])} dir="auto">
              {thread.title ?? thread.id}
            </a>{" "}
            <span class="quiet">
              <Time at={thread.updatedAt} style="ago" />
            </span>
          </li>
        ))}
      </ul>
      {others.length > SHOWN && <a href={linkTo(["channels", slug, "threads"], { userId })}>All of them</a>}
    </section>
  );
}
