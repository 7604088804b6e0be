/** `npm run faults` runs at full length; the suite plays a sample of everything. */
export const isFull = process.env["FAULTS"] === "full";
