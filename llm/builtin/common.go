package builtin

// How much a word of a prompt says about what is asked, by how common it is in
// English. A word that any page may have carries no sentence alone.
const (
	weightCommon   = 0.25
	weightFrequent = 0.5
	weightUsual    = 0.75
	weightRare     = 1.0
)

// weight is what a stem counts for among the terms of a prompt.
func (l *lexer) weight(stem string) float64 {
	switch {
	case !l.english:
		return weightRare
	case commonStems.has(stem) || linkStems.has(stem) || isNumber(stem):
		return weightCommon
	case frequentStems.has(stem):
		return weightFrequent
	case usualStems.has(stem):
		return weightUsual
	}
	return weightRare
}

// heft sums the weights of the terms of a set that has says a text has.
func (l *lexer) heft(terms termSet, has func(string) bool) float64 {
	sum := 0.0
	for term := range terms {
		if has(term) {
			sum += l.weight(term)
		}
	}
	return sum
}

// linkStems are the stems of verbs that stand between what a prompt is about.
var linkStems = wordSet(`replac differ surviv avoid ensur guarante handl solv detect compar choos decid reach caus`)

// The stems that the most documents have in each of three kinds of text: news,
// encyclopedia, and abstracts of science. Words of one field are so not among them.
var (
	commonStems = wordSet(`
first year includ base direct known time follow part role play produc well second sever found use state member famili
origin receiv work lead appear earli live success singl featur number children life new later form current product
perform refer locat set show last day becom serv design major short establish high area countri call death public end
consid repres critic publish intern record age third main act near against group start general continu final support
develop popul oper long histori make power previous studi releas open peopl great take best nation action period
independ often various creat person region place relat around educ stage author govern remain posit led addit due
local million late present complet larg name activ event issu half common result old enter close distribut reach
servic chang import anoth month along central die forc small line manag young associ differ screen turn compet
administr wide initi post side still date world communiti involv organ special full mark total tradit select
throughout left describ given influenc order home togeth cultur promot term lost begin consist decad help review
project anim provid classic focus other replac system women collect contribut seri attempt mean recent note assist
next though bodi effect particip week cover men score birth numer regard taken respons control gain resid train child
head largest center interest prior competit achiev report signific worldwid list sign univers move track share caus
degre point respect unit water movement particular relationship better class format host level limit minor parent
primarili program research way right exist non plan separ subject contain hand return version least real femal free
give introduc translat white construct engin natur older situat born novel eventu male rais low similar social see
allow despit especi littl rang accept label model usual rank altern entir flow`)
	frequentStems = wordSet(`
seen attack attend languag profession case probabl regular sourc box earlier entri highest mother promin surviv captur
experi frequent toward edit candid combin field human polici averag greatest increas mix outsid becam collabor come
former episod subsequ unknown adopt connect explor good occur pre properti back charg rule almost possibl section
futur instrument minut arrang industri institut school instead most network strong annual acquir distinct everi extend
fail inform air leav believ coupl span coloni media standard histor hold top domin face restor run element extens
generat less middl multipl recogn self varieti articl avail break doubl expand find meet opposit remov suffer centuri
hous race island latter met discov learn match portion type actual carri concern rate requir specif player conflict
maintain need partner progress rest rise status black deal intend incorpor site view adult agent effort process rout
typic held sometim stand abl access exampl heavi hour individu obtain divis fourth kill peak princip rural twice
western account arm basi declin econom height investig physic practic shown surround academ fall financi market team
conduct detect engag except offer perhap problem thought brief compar contract forward heart measur plant read
commerci master took cours detail health overal possess primari protect sexual suggest simpli tri appar assum attent
categori code decis document far higher immedi joint like propos round visit away elev structur transfer citi formal
alreadi composit digit estim facil hundr idea key visual band controversi count drop nativ notabl plot season younger
anti bring concept condit emerg fund goal qualiti technolog true gave modern schedul scienc aid alway belong confirm
cross damag employ exhibit scientif sequenc unlik urban build dead figur pass popular today arrest certain driver
interview map prepar secret squar talk temperatur compris convent cost defin demand fill global invest light negat
onlin recognit transit ultim depart district doctor keep lie night adapt approxim chain compos copi divid length
preserv sole advanc food function imag licens lose loss lower prevent seem step accompani color complex content daili
depend distanc expans fact illustr matter multi observ past psycholog rare reason red reveal scale stay technic claim
domest fire judg motion split consecut join matern occupi oppos pilot quarter apart architectur cut deriv draw improv
materi quick size valu attract capac commit comput consequ empir evid eye favor favour greater grow ill indic insid
integr miss seek serious smaller unusu behind built destroy man mid societi sound travel video amount childhood
convert defens fashion ident impact invas lack newli perman preced prove purpos question recipi reduc reflect session
sex store suppli ancient began border execut fifth foreign friend privat rough student address appli background
billion clear concentr cooper correspond failur handl identifi injuri link mass medic normal remark secondari approach
challeng communic desir determin exchang exclus expect experiment extrem hope innov intens longer look lowest object
occup opportun partial presenc uniqu agre brought cite dark decid dedic manufactur metal scientist soon staff teach
woman affect aspect assign bridg channel chosen demonstr difficult drive experienc knowledg larger memori paper regist
resist techniqu tip vari volum besid elder escap fell hip invad northern rhythm semi sibl twenti accomplish aim ask
bear clock cold coordin done dramat fatal pair pay save theori whole amongst boy destin get ground invit organis
pictur territori theme trade youth alon boundari care custom deep discuss encourag enough entiti expert fast graphic
iron kind poor strike target termin widespread wild arriv athlet campaign capit father front hit inspir journal
mention occasion paid recognis sale southern spent sport word written avoid belief confer constitu consult debat
foundat growth happen know method mild`)
	usualStems = wordSet(`
neighbor otherwis prime stop suit thousand understand wall absenc admit approv character choic conserv discoveri ensur
explain express output parallel physician platform recov sought spread strengthen suicid transport wait worker abus
agenc art blue book came charact comment confus elect fair girl hard heavili land liter nearbi put room sea text
websit abil alcohol benefit beyond block broad classifi consider difficulti display domain electron essenti examin
extent guid librari potenti pressur rapid repeat restrict rich skill surfac tone treatment tree trial virtual walk
weak accur argu beat circumst definit dri enabl enforc fate feel fli fulli implement incid intent interpret maximum
medium migrat mount nuclear pace principl proceed proper ray reject sens submit sudden threaten variat wave acknowledg
burn chart consolid creation eastern extinct feder film financ flight instal partnership piec sent agreement attribut
blind bound chapter combat compon conclud cycl disappear diseas exclud heat inter maker manner mental morn path press
presum quit reli renew revis search simpl sub super surpris switch transform unabl util web ancestor briefli brown
induct nomin outbreak ran serial silent twin administ capabl chanc circul colleagu consum contributor danger deliv
driven equip exceed fear gap grown highlight impress incom item labor machin mobil mouth precis pro profil prompt
recommend recruit remaind root sector segment space statement stroke traffic updat upper vehicl weight wider bank
command era faith firm goe grew meanwhil occas offic oil peer polit prison purchas regim request resum road roll
violenc want wealth wear wish advic ago awar babi basic cell compens contact context download drain drawn elimin empti
encount expens fine fit foster green hear instanc interrupt mechan minimum neutral none ongo onto opinion pattern
phase plane price promis render resourc safeti shift specialist specul speed suspect test threat touch trace trust
unifi variant vast affili aspir board broken cultiv declar depict dog etc founder immigr meant meter mine noth offici
passeng photograph realiti reform stream style succeed summer titl worst accumul acquisit advis assert attach balanc
breed carrier com compromis convers environ environment exact extra frame fulfil gas gradual hair hospit hot impos
injur interact introduct laboratori latest leg moder particl percentag perspect procedur profound reaction reader
refin resolv satellit shape simultan softwar somewhat statist stretch suppress task temporari think topic tripl volunt
yield absolut align analysi applic biolog characterist choos circl collaps complic contrast core correct devic disabl
disord emot enhanc excel export facilit file fundament household implic inclus lay lesson let lifestyl medicin motiv
necessari net notic passag plus provis radiat regul repair respond scheme substanti suffici sustain tension transmiss
trap treat trend withdraw www zone actor agricultur asset busi certif compani compil daytim east fifteen freedom grant
huge intellectu intellig leader mind moment mysteri neighborhood north outlet page qualifi sentenc spin star strip tax
vocal west addict advantag appeal aros atom autonom begun caught check compel confid counterpart coverag deem deposit
dollar edg evolv excess exercis fals fee foot freez giant hidden inner knee margin massiv nurs obscur pack pose prefer
prospect proxim pure radic revers risk routin shock smooth soft solut sort strain strict tackl tast tune accord
aggress answer appreci appropri argument bed client closer comparison constant convey crowd data deliveri depress
drink elig elsewher equival evalu expos fat fewer flavor fold frequenc habit hub inde infrastructur instruct isol
listen lung mask mere motor narrow oblig option overwhelm panel pregnant recal reliabl relief remot rescu resolut seal
sensat signal solv spot stem strategi survey systemat tabl tend transmit uncertain unclear undergo uniform vision
advoc alongsid cloth coast colleg competitor confront crisi deceas economi felt finish game interior jump kept launch
legal love`)
)
