import { Dialog } from "../parts/dialog.tsx";
import type { Place } from "./places.ts";

export function ShortcutsHelp({ places, onClose }: { places: readonly Place[]; onClose: () => void }) {
  const rows: [keys: string[], does: string][] = [
    ["/".split(" "), "Find a user or a conversation by its ID, or by words that were said"],
    ...places.map(({ letter, name }): [string[], string] => [["g", letter], name]),
    [["↑", "↓"], "Move in a list; j and k do, too"],
    [["Home", "End"], "First and last of a list"],
    [["Enter"], "Open what has the focus"],
    [["x"], "In the inbox: choose a conversation, to label or snooze several"],
    [["←", "→"], "Step through a run in its chart; l goes back to live"],
    [["t"], "In a conversation: take it over"],
    [["h"], "… hand it over"],
    [["s"], "… snooze it, or wake it"],
    [["l"], "… label it"],
    [["n"], "… open its notes"],
    [["Esc"], "Close what is open"],
    [["?"], "This list"],
  ];
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="shortcuts">
        {rows.map(([keys, does]) => (
          <div key={does}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <div class="actions">
        <button type="button" class="button main" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
