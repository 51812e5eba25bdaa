import { settingsEnvironment } from '../../environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { openFunction } from '../open-function.ts';
import { openSettings } from '../open-settings.ts';
import { settingsRoutes } from '../settings.ts';

const environment = settingsEnvironment.parse(process.env);
const { logger, table, options } = openFunction('dashboard-settings', environment);

/** Serves what an account sets. */
export const handler = httpStack(settingsRoutes(openSettings(table, environment, logger)), options);
