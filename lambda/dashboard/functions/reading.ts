import { readingEnvironment } from '../../environment.ts';
import { streamingHttpStack } from '../../http/http-stack.ts';
import { openFunction } from '../open-function.ts';
import { openReading } from '../open-reading.ts';
import { readingRoutes } from '../reading.ts';

const environment = readingEnvironment.parse(process.env);
const { logger, table, options } = openFunction('dashboard-reading', environment);

/** Serves what people read, and writes nothing. All of it is streamed: what is exported may exceed the size limit of a buffered response. */
export const handler = streamingHttpStack(readingRoutes(openReading(table, environment, logger)), options);
