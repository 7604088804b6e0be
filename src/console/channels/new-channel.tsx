import { useState } from "preact/hooks";
import { SelectField, TextField } from "../parts/fields.tsx";
import { NewKey } from "../parts/new-key.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { messageOf } from "../service/problem.ts";
import type { ChannelWithKeys } from "../service/views.ts";
import { useConsole } from "../shell/console-context.ts";
import { go, linkTo } from "../shell/route.ts";
import { Titled } from "../shell/titled.tsx";
import { linesOf } from "./draft.ts";

const KINDS = [
  ["web", "Web: the widget, and pages"],
  ["transport", "Transport: backends, bots, command lines"],
] as const;

export function NewChannel() {
  const { api, reloadChannels, tell } = useConsole();
  const [slug, setSlug] = useState("");
  const [kind, setKind] = useState<"web" | "transport">("web");
  const [origins, setOrigins] = useState("");
  const [instructions, setInstructions] = useState("");
  const [trouble, setTrouble] = useState<string | null>(null);
  const [made, setMade] = useState<ChannelWithKeys | null>(null);
  const make = async () => {
    setTrouble(null);
    try {
      const channel = await api.send<ChannelWithKeys>("POST", "/channels", {
        slug,
        kind,
        ...(kind === "web" ? { allowedOrigins: linesOf(origins) } : {}),
        ...(instructions === "" ? {} : { agent: { instructions } }),
      });
      await reloadChannels();
      tell(`${slug} is there`);
      if (channel.secretKey === undefined) go(linkTo(["channels", slug]));
      else setMade(channel);
    } catch (error) {
      setTrouble(messageOf(error));
    }
  };
  return (
    <Titled title="New channel" above={<a href={linkTo(["channels"])}>Channels</a>}>
      <form
        class="settings"
        onSubmit={(event) => {
          event.preventDefault();
          void make();
        }}
      >
        <TextField
          label="Name"
          value={slug}
          onInput={setSlug}
          required
          pattern="[a-z0-9_\-]{1,64}"
          hint="1 to 64 of a-z 0-9 - _. Cannot be changed later."
          autoFocus
        />
        <SelectField label="Kind" value={kind} choices={KINDS} onChoose={setKind} />
        {kind === "web" && (
          <TextField
            label="Origins"
            rows={3}
            value={origins}
            onInput={setOrigins}
            hint="The sites whose pages may show the widget, one a line: https://shop.example"
          />
        )}
        <TextField label="Instructions" rows={6} value={instructions} onInput={setInstructions} />
        <Trouble text={trouble} />
        <div class="actions save">
          <button type="submit" class="button main">
            Make the channel
          </button>
        </div>
      </form>
      {made && (
        <NewKey
          title={`The keys of ${made.slug}`}
          keys={[
            ["Publishable", made.publishableKey ?? ""],
            ["Secret", made.secretKey ?? ""],
          ]}
          onClose={() => go(linkTo(["channels", made.slug]))}
        />
      )}
    </Titled>
  );
}
