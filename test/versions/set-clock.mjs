// Loaded into a service before its own code: its wall clock begins at CLOCK_AT_MS. Durations are as ever.
const real = Date.now;
const offsetMs = Number(process.env.CLOCK_AT_MS) - real();
Date.now = () => real() + offsetMs;
