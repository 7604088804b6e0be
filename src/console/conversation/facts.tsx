import type { ThreadView as ChartView } from "../../inspector/views.ts";
import { Time } from "../parts/times.tsx";
import { numberText } from "../parts/numbers.ts";
import type { ThreadView, UserView } from "../service/views.ts";
import { linkTo } from "../shell/route.ts";
import { UserFlags, nameOf } from "../users/names.tsx";

/** What is known beside what was said. */
export function Facts({
  slug,
  id,
  thread,
  chart,
  user,
}: {
  slug: string;
  id: string;
  thread: ThreadView | null;
  chart: ChartView | null;
  user: UserView | null;
}) {
  const visitor = chart?.visitor ?? null;
  const context = Object.entries(visitor?.context ?? {});
  const attributes = Object.entries(user?.attributes ?? {});
  return (
    <dl class="facts">
      {user && (
        <div>
          <dt>User</dt>
          <dd>
            <a href={linkTo(["channels", slug, "users", user.userId])}>{nameOf(user)}</a>{" "}
            <UserFlags user={user} />
          </dd>
        </div>
      )}
      {attributes.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{String(value)}</dd>
        </div>
      ))}
      {visitor?.page && (
        <div>
          <dt>Page</dt>
          <dd class="mono">{visitor.page}</dd>
        </div>
      )}
      {visitor?.locale && (
        <div>
          <dt>Language</dt>
          <dd>{visitor.locale}</dd>
        </div>
      )}
      {context.map(([name, value]) => (
        <div key={name}>
          <dt>{name}, by the page</dt>
          <dd>{String(value)}</dd>
        </div>
      ))}
      {thread?.handoff?.reason && (
        <div>
          <dt>Why a person</dt>
          <dd>{thread.handoff.reason}</dd>
        </div>
      )}
      {thread?.handoff?.summary && (
        <div>
          <dt>In short</dt>
          <dd>{thread.handoff.summary}</dd>
        </div>
      )}
      <div>
        <dt>Id</dt>
        <dd class="mono">{id}</dd>
      </div>
      {thread && (
        <>
          <div>
            <dt>Id at the caller</dt>
            <dd class="mono">{thread.threadId}</dd>
          </div>
          <div>
            <dt>Begun</dt>
            <dd>
              <Time at={thread.createdAt} style="long" />
            </dd>
          </div>
          <div>
            <dt>Last activity</dt>
            <dd>
              <Time at={thread.updatedAt} style="long" />
            </dd>
          </div>
        </>
      )}
      <div>
        <dt>Messages</dt>
        <dd>{numberText(chart?.messages ?? thread?.messages ?? 0)}</dd>
      </div>
      {chart?.sums?.usage && (
        <div>
          <dt>Tokens of this run</dt>
          <dd>
            {numberText(chart.sums.usage.input)} in, {numberText(chart.sums.usage.output)} out
          </dd>
        </div>
      )}
    </dl>
  );
}
