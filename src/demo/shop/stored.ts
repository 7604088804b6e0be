/** The shop stores its data only in this browser. */
export interface CartItem {
  id: string;
  quantity: number;
}

export const ADDRESS_FIELDS = ["name", "email", "street", "postcode", "city", "country"] as const;
export type Address = Partial<Record<(typeof ADDRESS_FIELDS)[number], string>>;

export function readCart(): CartItem[] {
  return read<CartItem[]>("shop:cart") ?? [];
}

export function writeCart(items: CartItem[]): void {
  write("shop:cart", items);
}

export function addToCart(id: string, quantity: number): void {
  const items = readCart();
  const known = items.find((item) => item.id === id);
  writeCart(
    known === undefined
      ? [...items, { id, quantity }]
      : items.map((item) => (item === known ? { id, quantity: item.quantity + quantity } : item)),
  );
}

/** `saved`: submitted, not only filled in. */
export function readAddress(): { address: Address; saved: boolean } {
  return read("shop:address") ?? { address: {}, saved: false };
}

export function writeAddress(address: Address, saved: boolean): void {
  write("shop:address", { address, saved });
}

export function readAccount(): string | null {
  return read<string>("shop:account");
}

export function writeAccount(name: string | null): void {
  write("shop:account", name);
}

function read<Value>(key: string): Value | null {
  const text = localStorage.getItem(key);
  // A cast: this script wrote it.
  return text === null ? null : (JSON.parse(text) as Value);
}

/** This page listens for `shop:changed`, other tabs for the browser's storage event. */
function write(key: string, value: unknown): void {
  if (value === null) localStorage.removeItem(key);
  else localStorage.setItem(key, JSON.stringify(value));
  window.dispatchEvent(new Event("shop:changed"));
}
