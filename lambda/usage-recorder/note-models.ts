import type { Logger } from '@aws-lambda-powertools/logger';
import pMap from 'p-map';
import type { ModelUse } from '../data/prices/model-use.ts';
import { dayOf } from '../domain/calendar/utc.ts';
import { modelOf } from '../domain/spend/request-record.ts';
import type { Recorder } from './recorder.ts';

const AT_ONCE = 16;

/** A recorder that also notes which accounts use which models. A failure is logged; the next request of the model tries again. */
export const noteModels =
  (
    record: Recorder,
    models: { readonly note: (use: ModelUse) => Promise<void> },
    logger: Pick<Logger, 'error'>,
  ): Recorder =>
  async (events) => {
    const results = await record(events);
    const uses = new Map<string, ModelUse>();
    for (const result of results) {
      if (result.kind !== 'recorded') continue;
      const { accountId, provider, provenance, startedAt } = result.record;
      const model = modelOf(result.record);
      // The others do not depend on the price book.
      if (model === null || provenance === 'free' || provenance === 'provider') continue;
      const use = { day: dayOf(startedAt), accountId, provider, model: model.toLowerCase() };
      uses.set(Object.values(use).join(' '), use);
    }
    await pMap(
      uses.values(),
      (use) =>
        models.note(use).catch((error: Error) => logger.error('Use of a model not noted', { errorName: error.name })),
      { concurrency: AT_ONCE },
    );
    return results;
  };
