import { Dialog } from "../parts/dialog.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { useLoaded } from "../parts/use-loaded.ts";
import { pathOf } from "../service/api.ts";
import { useConsole } from "../shell/console-context.ts";
import type { HandOff } from "./hand-off.ts";

type Colleague = { name: string; displayName?: string };

/** To whom a conversation is handed: a colleague, who then has it, or a queue, in which it waits. */
export function Assign({
  slug,
  holder,
  queues,
  handOff,
  onClose,
}: {
  slug: string;
  /** Who has it; null: nobody. */
  holder: string | null;
  /** Empty: the channel has none, or the conversation is the assistant's. */
  queues: readonly string[];
  handOff: HandOff;
  onClose: () => void;
}) {
  const { api, me } = useConsole();
  const colleagues = useLoaded(
    async (signal) => {
      const path = pathOf("channels", slug, "operators");
      const { items } = await api.get<{ items: Colleague[] }>(path, {}, signal);
      return items.filter(({ name, displayName = name }) => displayName !== holder);
    },
    [slug, holder],
  );
  const give = (to: { operator: string } | { queue: string }) =>
    void handOff.assign(to, holder).then((done) => done && onClose());
  return (
    <Dialog title="Hand it over" onClose={onClose}>
      <Trouble text={colleagues.trouble ?? handOff.trouble} />
      <h3>To a colleague</h3>
      <p class="choices">
        {(colleagues.value ?? []).map(({ name, displayName }) => (
          <button
            key={name}
            type="button"
            class="button"
            disabled={handOff.isBusy}
            onClick={() => give({ operator: name })}
          >
            {name === me.name ? "To me" : (displayName ?? name)}
          </button>
        ))}
        {colleagues.value?.length === 0 && <span class="quiet">Nobody else may answer in this channel.</span>}
      </p>
      {queues.length > 0 && (
        <>
          <h3>To a queue, in which it waits</h3>
          <p class="choices">
            {queues.map((queue) => (
              <button
                key={queue}
                type="button"
                class="button"
                disabled={handOff.isBusy}
                onClick={() => give({ queue })}
              >
                {queue}
              </button>
            ))}
          </p>
        </>
      )}
      <div class="actions">
        <button type="button" class="button" onClick={onClose}>
          Leave it
        </button>
      </div>
    </Dialog>
  );
}
