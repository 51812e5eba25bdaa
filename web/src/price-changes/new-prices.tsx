import { Alert } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { History } from 'lucide-react';
import { DAY_MS } from '../../../lambda/domain/calendar/units.ts';
import { useApi } from '../app.ts';
import { Money } from '../components/amount.tsx';
import { TextLink } from '../components/links.tsx';
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
  const { data } = useApi().useQuery('get', '/price-changes');
  const fresh = (data?.items ?? []).filter(
    ({ version, repricedAt }) => version > seen && Date.parse(repricedAt) > Date.now() - SHOWN_DAYS * DAY_MS,
  );
  const [newest] = fresh;
  if (!newest) return null;
  const requests = fresh.reduce((sum, each) => sum + each.requests, 0);
  const difference = fresh.reduce((sum, { nanoUsdAfter, nanoUsdBefore }) => sum + nanoUsdAfter - nanoUsdBefore, 0);
  const firstDay = fresh.map((each) => each.firstDay).sort()[0] ?? newest.firstDay;
  return (
    <Alert
      color="blue"
      variant="light"
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
