import { Alert } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { History } from 'lucide-react';
import { DAY_MS } from '../../../lambda/domain/calendar/units.ts';
import { useApi } from '../app.ts';
import { Money } from '../components/amount.tsx';
import { TextLink } from '../components/links.tsx';
import { LoadProblem } from '../components/page.tsx';
import { plural } from '../format/quantity.ts';
import { utcDayText } from '../format/time.ts';

const SHOWN_DAYS = 14;

/** On the overview: new prices changed figures that were shown before. Dismissed for each version, in this browser. */
const NewPrices = () => {
  const [seen, setSeen] = useLocalStorage({
    key: 'price-version-seen',
    defaultValue: 0,
    getInitialValueInEffect: false,
  });
  const query = useApi().useQuery('get', '/price-changes');
  const fresh = (query.data?.items ?? []).filter(
    ({ version, repricedAt }) => version > seen && Date.parse(repricedAt) > Date.now() - SHOWN_DAYS * DAY_MS,
  );
  const [newest] = fresh;
  if (!newest) return <LoadProblem query={query} title="Changes of prices could not be loaded" />;
  const requests = fresh.reduce((sum, each) => sum + each.requests, 0);
  const difference = fresh.reduce((sum, { nanoUsdAfter, nanoUsdBefore }) => sum + nanoUsdAfter - nanoUsdBefore, 0);
  const firstDay = fresh.map((each) => each.firstDay).sort()[0] ?? newest.firstDay;
  return (
    <Alert
      color="blue"
      icon={<History size={18} />}
      withCloseButton
      closeButtonLabel="Dismiss"
      onClose={() => setSeen(newest.version)}
    >
      New prices changed the cost of {plural(requests, 'request')} since {utcDayText(firstDay)}, by{' '}
      <Money nano={difference} />. <TextLink to="/price-changes">What changed</TextLink>
    </Alert>
  );
};

export default NewPrices;
