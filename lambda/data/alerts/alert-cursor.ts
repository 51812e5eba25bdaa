import * as z from 'zod/mini';
import { pageCursor } from '../table/page-cursor.ts';

/** The id of the last alert of a page. The next page begins below it, so new or changed alerts do not shift it. */
export const alertCursor = pageCursor(z.uuid());
