import { useState } from "preact/hooks";
import { PagedList } from "../lists/paged-list.tsx";
import { usePaged } from "../lists/paged.ts";
import { Empty } from "../parts/empty.tsx";
import { TextField } from "../parts/fields.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { pathOf } from "../service/api.ts";
import { messageOf } from "../service/problem.ts";
import { mayOf, useConsole } from "../shell/console-context.ts";
import { Titled } from "../shell/titled.tsx";

/** Addresses whose requests to the widget API are refused. */
export function Addresses() {
  const { api, me, tell } = useConsole();
  const mayChange = mayOf(me).changeAddresses;
  const [address, setAddress] = useState("");
  const [trouble, setTrouble] = useState<string | null>(null);
  const paged = usePaged<{ address: string }>(
    (cursor, signal) => api.list("/ips", { limit: 100, cursor }, signal),
    [],
  );
  const doing = async (act: () => Promise<string>) => {
    setTrouble(null);
    try {
      tell(await act());
      paged.reload();
    } catch (error) {
      setTrouble(messageOf(error));
    }
  };
  const block = () =>
    doing(async () => {
      const kept = await api.send<{ address: string }>("POST", "/ips", { address: address.trim() });
      setAddress("");
      return `${kept.address} is blocked`;
    });
  const unblock = (one: string) =>
    doing(async () => {
      await api.send("DELETE", pathOf("ips", one));
      return `${one} is not blocked any more`;
    });
  return (
    <Titled title="Addresses" fills>
      {mayChange && (
        <form
          class="filters"
          onSubmit={(event) => {
            event.preventDefault();
            void block();
          }}
        >
          <TextField
            label="Address or range"
            value={address}
            onInput={setAddress}
            placeholder="192.0.2.7 or 192.0.2.0/24"
            required
            isWide
          />
          <button type="submit" class="button main">
            Block
          </button>
        </form>
      )}
      <Trouble text={trouble} />
      <PagedList
        paged={paged}
        keyOf={(one) => one.address}
        label="Blocked addresses"
        empty={
          <Empty title="No address is blocked.">
            <p>
              Requests of a blocked address to the widget API are refused. The log says which address a
              refused request came from.
            </p>
          </Empty>
        }
      >
        {(one, tabIndex) => (
          <div class="row plain">
            <span class="first mono">{one.address}</span>
            {mayChange && (
              <button
                type="button"
                class="button small"
                tabIndex={tabIndex}
                aria-label={`Unblock ${one.address}`}
                onClick={() => void unblock(one.address)}
              >
                Unblock
              </button>
            )}
          </div>
        )}
      </PagedList>
    </Titled>
  );
}
