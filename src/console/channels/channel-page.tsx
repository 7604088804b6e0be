import { useState } from "preact/hooks";
import { NewKey } from "../parts/new-key.tsx";
import { useLoaded } from "../parts/use-loaded.ts";
import { Question } from "../parts/question.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { Caps } from "../overview/caps.tsx";
import { pathOf } from "../service/api.ts";
import { messageOf } from "../service/problem.ts";
import type { ChannelView, ChannelWithKeys } from "../service/views.ts";
import { mayOf, useConsole } from "../shell/console-context.ts";
import { linkTo } from "../shell/route.ts";
import { Titled } from "../shell/titled.tsx";
import { ChannelFacts } from "./channel-facts.tsx";
import { ChannelFields } from "./channel-fields.tsx";
import { changeOf, draftOf } from "./draft.ts";
import type { ChannelDraft } from "./draft.ts";

/** A channel and its settings. */
export function ChannelPage({ slug }: { slug: string }) {
  const { api, me, tell, reloadChannels } = useConsole();
  const may = mayOf(me);
  const loaded = useLoaded<ChannelView>((signal) => api.get(pathOf("channels", slug), {}, signal), [slug]);
  const channel = loaded.value;
  const [asks, setAsks] = useState(false);
  const [made, setMade] = useState<ChannelWithKeys | null>(null);
  const rotate = async () => {
    const rotated = await api.send<ChannelWithKeys>("POST", `${pathOf("channels", slug)}/rotate-keys`);
    setAsks(false);
    setMade(rotated);
    loaded.reload();
    tell(`The keys of ${slug} are new`);
  };
  return (
    <Titled
      title={slug}
      above={<a href={linkTo(["channels"])}>Channels</a>}
      actions={
        <>
          <a class="button" href={linkTo(["channels", slug, "threads"])}>
            Conversations
          </a>
          <a class="button" href={linkTo(["channels", slug, "users"])}>
            Users
          </a>
          <a class="button" href={linkTo(["channels", slug, "webhooks"])}>
            Webhooks
          </a>
          <a class="button" href={linkTo(["channels", slug, "documents"])}>
            Documents
          </a>
          {may.changeChannels && channel?.kind === "web" && (
            <button type="button" class="button" onClick={() => setAsks(true)}>
              New keys
            </button>
          )}
        </>
      }
    >
      <Trouble text={loaded.trouble} onRetry={loaded.reload} />
      {channel && <ChannelFacts channel={channel} />}
      {channel && <Caps channel={slug} stamp={String(channel.agent.maxTokensPerDay)} />}
      {channel && may.changeChannels && (
        <Settings
          channel={channel}
          onChanged={async (changed) => {
            loaded.set(changed);
            tell(`${slug} is changed`);
            await reloadChannels();
          }}
        />
      )}
      {asks && (
        <Question
          title={`New keys for ${slug}?`}
          yes="Make new keys"
          onYes={rotate}
          onClose={() => setAsks(false)}
        >
          <p>
            The keys that are in use now end at once: pages with the old publishable key and servers with the
            old secret key are refused until they have the new ones.
          </p>
        </Question>
      )}
      {made && (
        <NewKey
          title={`The new keys of ${slug}`}
          keys={[
            ["Publishable", made.publishableKey ?? ""],
            ["Secret", made.secretKey ?? ""],
          ]}
          onClose={() => setMade(null)}
        />
      )}
    </Titled>
  );
}

function Settings({
  channel,
  onChanged,
}: {
  channel: ChannelView;
  onChanged: (channel: ChannelView) => Promise<void>;
}) {
  const { api } = useConsole();
  const [draft, setDraft] = useState<ChannelDraft>(() => draftOf(channel));
  const [trouble, setTrouble] = useState<string | null>(null);
  const change = changeOf(channel, draft);
  const save = async () => {
    if (change === null) return;
    setTrouble(null);
    try {
      const changed = await api.send<ChannelView>("PATCH", pathOf("channels", channel.slug), change);
      setDraft(draftOf(changed));
      await onChanged(changed);
    } catch (error) {
      setTrouble(messageOf(error));
    }
  };
  return (
    <form
      class="settings"
      aria-label="Settings"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <ChannelFields kind={channel.kind} draft={draft} onChange={setDraft} />
      <Trouble text={trouble} />
      <div class="actions save">
        <button
          type="button"
          class="button"
          disabled={change === null}
          onClick={() => setDraft(draftOf(channel))}
        >
          Undo
        </button>
        <button type="submit" class="button main" disabled={change === null}>
          Save
        </button>
      </div>
    </form>
  );
}
