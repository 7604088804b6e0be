import { useState } from "preact/hooks";
import { ThreadList } from "../inbox/thread-list.tsx";
import { Empty } from "../parts/empty.tsx";
import { useLoaded } from "../parts/loading.ts";
import { Trouble } from "../parts/trouble.tsx";
import { pathOf } from "../service/api.ts";
import type { UserView } from "../service/views.ts";
import { mayOf, useConsole } from "../shell/console-context.ts";
import { linkTo } from "../shell/route.ts";
import { Titled } from "../shell/titled.tsx";
import { UserFlags, nameOf } from "./names.tsx";
import { Rename } from "./rename.tsx";
import { useUserChange } from "./user-change.ts";

/** A user: who it is, what may be done, and the conversations. */
export function UserPage({ slug, userId }: { slug: string; userId: string }) {
  const { api, me } = useConsole();
  const may = mayOf(me);
  const loaded = useLoaded<UserView>(
    (signal) => api.get(pathOf("channels", slug, "users", userId), {}, signal),
    [slug, userId],
  );
  const user = loaded.value;
  const change = useUserChange(slug, loaded.set);
  const [isRenaming, setRenaming] = useState(false);
  return (
    <Titled
      title={user ? nameOf(user) : "User"}
      fills
      above={
        <>
          <a href={linkTo(["channels", slug])}>{slug}</a> /{" "}
          <a href={linkTo(["channels", slug, "users"])}>Users</a>
        </>
      }
      actions={
        user &&
        may.changeUsers && (
          <>
            <button type="button" class="button" onClick={() => setRenaming(true)}>
              Rename
            </button>
            <button
              type="button"
              class="button"
              onClick={() => void change.send(user, { whitelisted: !user.whitelisted })}
            >
              {user.whitelisted ? "Take from the whitelist" : "Whitelist"}
            </button>
            <button
              type="button"
              class={user.blocked ? "button main" : "button bad"}
              onClick={() => void change.send(user, { blocked: !user.blocked })}
            >
              {user.blocked ? "Unblock" : "Block"}
            </button>
          </>
        )
      }
    >
      <Trouble text={loaded.trouble} onRetry={loaded.reload} />
      <Trouble text={change.trouble} />
      {user && <Facts user={user} />}
      <h2>Conversations</h2>
      <ThreadList
        slug={slug}
        query={{ userId }}
        label="Conversations of this user"
        empty={
          <Empty title="Nothing was said yet.">
            <p>A conversation is here from its first message on.</p>
          </Empty>
        }
      />
      {user && isRenaming && (
        <Rename
          user={user}
          onClose={() => setRenaming(false)}
          onName={async (displayName) => {
            if (await change.send(user, { displayName })) setRenaming(false);
          }}
        />
      )}
    </Titled>
  );
}

function Facts({ user }: { user: UserView }) {
  const attributes = Object.entries(user.attributes ?? {});
  return (
    <>
      <dl class="facts">
        <div>
          <dt>Id at the site</dt>
          <dd class="mono">{user.externalUserId ?? "none: anonymous"}</dd>
        </div>
        <div>
          <dt>Id of the service</dt>
          <dd class="mono">{user.userId}</dd>
        </div>
        {(user.blocked || user.whitelisted) && (
          <div>
            <dt>State</dt>
            <dd>
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
      </dl>
    </>
  );
}
