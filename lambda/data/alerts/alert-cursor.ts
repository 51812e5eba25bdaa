import * as z from 'zod/mini';
import { pageCursor } from '../table/page-cursor.ts';

/** The id of the last alert of a page: the next begins below it, whatever came or changed meanwhile. */
export const alertCursor = pageCursor(z.uuid());
