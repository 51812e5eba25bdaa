import * as z from 'zod/mini';
import { pageCursor } from '../table/page-cursor.ts';

const position = z.object({ day: z.iso.date(), requestId: z.nullable(z.uuid()) });

/** The end of a page: the next page begins below `requestId` on `day`, or at the end of `day` where `requestId` is null. */
export type RequestPosition = Readonly<z.infer<typeof position>>;

export const requestCursor = pageCursor(position);
