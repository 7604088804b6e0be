import { useState } from "preact/hooks";
import { ThreadList } from "../inbox/thread-list.tsx";
import { Empty } from "../parts/empty.tsx";
import { Fact } from "../parts/fact.tsx";
import { useLoaded } from "../parts/use-loaded.ts";
import { sizeText } from "../parts/numbers.ts";
import { Trouble } from "../parts/trouble.tsx";
import { pathOf } from "../service/api.ts";
import type { UserView } from "../service/views.ts";
import { mayOf, useConsole } from "../shell/console-context.ts";
import { go, linkTo } from "../shell/route.ts";
import { Titled } from "../shell/titled.tsx";
import { Attributes } from "./attributes.tsx";
import { DeleteUser } from "./delete-user.tsx";
import { useExport } from "./export-user.ts";
import { UserFlags, nameOf } from "./names.tsx";
import { Rename } from "./rename.tsx";
import { useUserChange } from "./user-change.ts";

/** What a dialog asks for. */
type Asked = "name" | "deletion";

/** A user: who it is, what may be done, and the conversations. */
export function UserPage({ slug, userId }: { slug: string; userId: string }) {
  const { api, me, tell } = useConsole();
  const may = mayOf(me);
  const loaded = useLoaded<UserView>(
    (signal) => api.get(pathOf("channels", slug, "users", userId), {}, signal),
    [slug, userId],
  );
  const user = loaded.value;
  const change = useUserChange(slug, loaded.set);
  const exporting = useExport(slug);
  const [asked, setAsked] = useState<Asked | null>(null);
  const close = () => setAsked(null);
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
          <Actions
            user={user}
            change={change}
            exporting={exporting}
            mayForget={may.forget}
            onAsk={setAsked}
          />
        )
      }
    >
      <Trouble text={loaded.trouble} onRetry={loaded.reload} />
      <Trouble text={change.trouble ?? exporting.trouble} />
      {user && <Facts user={user} />}
      <h2>Conversations</h2>
      <ThreadList
        slug={slug}
        query={{ userId }}
        label="Conversations of this user"
        empty={
          <Empty title="No messages yet.">
            <p>Conversations appear here from their first message.</p>
          </Empty>
        }
      />
      {user && asked === "name" && (
        <Rename
          user={user}
          onClose={close}
          onName={async (displayName) => {
            if (await change.send(user, { displayName })) close();
          }}
        />
      )}
      {user && asked === "deletion" && (
        <DeleteUser
          slug={slug}
          user={user}
          onClose={close}
          onDeleted={() => {
            tell(`${nameOf(user)} is deleted`);
            // Going back does not come to who is not there any more.
            go(linkTo(["channels", slug, "users"]), { replace: true });
          }}
        />
      )}
    </Titled>
  );
}

function Actions({
  user,
  change,
  exporting,
  mayForget,
  onAsk,
}: {
  user: UserView;
  change: ReturnType<typeof useUserChange>;
  exporting: ReturnType<typeof useExport>;
  mayForget: boolean;
  onAsk: (asked: Asked) => void;
}) {
  return (
    <>
      <button type="button" class="button" onClick={() => onAsk("name")}>
        Rename
      </button>
      <button
        type="button"
        class="button"
        onClick={() => void change.send(user, { whitelisted: !user.whitelisted })}
      >
        {user.whitelisted ? "Take from the whitelist" : "Whitelist"}
      </button>
      {mayForget && (
        <button
          type="button"
          class="button"
          disabled={exporting.bytes !== null}
          onClick={() => void exporting.save(user)}
        >
          {exporting.bytes === null ? "Export" : `Exporting, ${sizeText(exporting.bytes)}`}
        </button>
      )}
      <button
        type="button"
        class={user.blocked ? "button main" : "button bad"}
        onClick={() => void change.send(user, { blocked: !user.blocked })}
      >
        {user.blocked ? "Unblock" : "Block"}
      </button>
      {mayForget && (
        <button type="button" class="button bad" onClick={() => onAsk("deletion")}>
          Delete
        </button>
      )}
    </>
  );
}

function Facts({ user }: { user: UserView }) {
  return (
    <dl class="facts">
      <Fact name="External ID" mono>
        {user.externalUserId ?? "none: anonymous"}
      </Fact>
      <Fact name="Internal ID" mono>
        {user.userId}
      </Fact>
      {(user.blocked || user.whitelisted) && (
        <Fact name="State">
          <UserFlags user={user} />
        </Fact>
      )}
      <Attributes attributes={user.attributes} />
    </dl>
  );
}
