/** The demo shop's products. Prices are in whole euros; a picture is the file named after the id. */
export interface Product {
  id: string;
  name: string;
  price: number;
  line: string;
  story: string;
}

export const PRODUCTS: readonly Product[] = [
  {
    id: "red-mug",
    name: "Red mug",
    price: 18,
    line: "Stoneware, 350 ml",
    story: "Thrown by hand, glazed the red of late tomatoes. Heavy enough to stay where you put it.",
  },
  {
    id: "tea-pot",
    name: "Tea pot",
    price: 54,
    line: "Stoneware, 1 litre",
    story: "Pours without a drip and keeps four cups warm for as long as a conversation lasts.",
  },
  {
    id: "oak-board",
    name: "Oak board",
    price: 36,
    line: "Oiled oak, 40 cm",
    story: "One piece of wood, no glue. Oil it twice a year and it will outlive the kitchen.",
  },
  {
    id: "linen-apron",
    name: "Linen apron",
    price: 42,
    line: "Washed linen, one size",
    story: "Softer with every wash. Two deep pockets, one for the towel and one for everything else.",
  },
  {
    id: "wool-blanket",
    name: "Wool blanket",
    price: 120,
    line: "Lambswool, 130 × 180 cm",
    story: "Woven in a small mill, brushed once. For the chair by the window and the first cold evening.",
  },
  {
    id: "bees-candle",
    name: "Beeswax candle",
    price: 14,
    line: "Pure beeswax, 40 hours",
    story: "Burns slowly and smells faintly of summer, without any perfume at all.",
  },
  {
    id: "garden-can",
    name: "Watering can",
    price: 48,
    line: "Galvanised steel, 5 litres",
    story: "Balanced in the hand when full. The rose comes off for pots and goes on for seedlings.",
  },
  {
    id: "paper-book",
    name: "Notebook",
    price: 16,
    line: "160 pages, thread-sewn",
    story: "Lies flat on any page. Paper that takes a fountain pen and forgives an eraser.",
  },
];

export function productById(id: string): Product | null {
  return PRODUCTS.find((product) => product.id === id) ?? null;
}
