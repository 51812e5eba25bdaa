import * as z from 'zod/mini';

/** A day (`2026-11-20`, UTC) or an instant (ISO 8601 with an offset or Z). */
export const dayOrInstant = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })], {
    error: 'must be a date (2026-11-20) or an instant (2026-11-20T16:00:00Z)',
  })
  .check(z.meta({ examples: ['2026-11-01'] }));

/** A day (`2026-11-20`, UTC). */
export const day = z.iso.date('must be a date (2026-11-20)').check(z.meta({ examples: ['2026-11-01'] }));
